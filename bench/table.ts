/** One measured figure. */
export interface Figure {
  name: string;
  value: number;
  /** Undefined if the figure is only reported. */
  goal?: Goal;
  /** Further values of the same measurement. */
  details?: Record<string, number>;
}

/** The limit that a value should meet. */
export type Goal = { atLeast: number } | { atMost: number };

/** Writes figures as a table for a terminal: the figure, its value, its goal and whether it is reached. */
export function printTable(figures: readonly Figure[]): string {
  return alignColumns(
    figures.map(({ name, value, goal, details = {} }) => [
      name,
      [value, ...Object.values(details)].map(printNumber).join('  '),
      goal === undefined ? '' : printGoal(goal),
      goal === undefined ? '' : printVerdict(value, goal),
    ]),
  );
}

/** Aligns cells in columns: the given ones at their right edge, all others at their left edge. */
export function alignColumns(rows: readonly (readonly string[])[], rightAligned: readonly number[] = []): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const align = (cell: string, column: number) =>
    rightAligned.includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return rows.map((row) => row.map(align).join('  ').trimEnd()).join('\n');
}

/** Writes a goal for a table. */
export function printGoal(goal: Goal): string {
  return 'atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`;
}

/** Writes for a table whether a goal is reached. */
export function printVerdict(value: number, goal: Goal): string {
  return reaches(value, goal) ? 'ok' : 'missed';
}

/** Whether a value reaches its goal. A value that could not be measured does not. */
export function reaches(value: number, goal: Goal): boolean {
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost;
}

/** Writes a number for a table, with three significant digits. */
export function printNumber(value: number): string {
  return Number.isNaN(value) ? 'not measured' : value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}
