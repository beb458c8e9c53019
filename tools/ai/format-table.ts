/** One cell of a table: a text, or a number, which is rounded to three places. */
export type Cell = string | number | null;

/** Formats rows as a table in text; the first column to the left, the others to the right. */
export function formatTable(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = [header, ...rows.map((row) => row.map(toText))];
  const widths = header.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  const lines = texts.map((row) =>
    row
      .map((text, column) => (column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return [lines[0], '-'.repeat(lines[0]?.length ?? 0), ...lines.slice(1)].join('\n');
}

function toText(cell: Cell): string {
  if (cell === null) return '-';
  return typeof cell === 'string' ? cell : cell.toFixed(3);
}
