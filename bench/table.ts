/** One measured figure. */
export interface Figure {
  name: string;
  value: number;
  /** What the value should be; none is only reported. */
  goal?: { atLeast: number } | { atMost: number };
  /** Further values of the same measurement. */
  details?: Record<string, number>;
}

/** Writes figures as a table for a terminal: the figure, its value, its goal and whether it is reached. */
export function printTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, value, goal, details = {} }) => [
    name,
    [value, ...Object.values(details)].map(short).join('  '),
    goal === undefined ? '' : 'atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`,
    goal === undefined ? '' : reaches(value, goal) ? 'ok' : 'missed',
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Whether a value is what it should be; what could not be measured is not. */
export function reaches(value: number, goal: NonNullable<Figure['goal']>): boolean {
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
}

function short(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}
