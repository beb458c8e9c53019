import type { CsvRow } from './csv-rows.ts';
import { type Mapping, mapRow } from './map-row.ts';

const shownProblems = 10;

/**
 * Maps every row without sending anything, and prints the problems, the first ticket and a summary.
 *
 * Shape: how many rows cannot be mapped; the server may refuse more of them.
 */
export async function dryRun(
  rows: AsyncGenerator<CsvRow>,
  mapping: Mapping,
  limit: number,
  print: (text: string) => void,
): Promise<number> {
  const tagNames = new Set<string>();
  let count = 0;
  let rejected = 0;
  let isTicketShown = false;
  for await (const row of rows) {
    if (row.row > limit) break;
    count += 1;
    const mapped = mapRow(mapping, row.cells);
    const problems = row.problem === undefined ? mapped.problems : [row.problem];
    if (problems.length > 0) {
      rejected += 1;
      if (rejected <= shownProblems) print(`Line ${row.line}, row ${row.row}: ${problems.join('; ')}`);
      continue;
    }
    for (const name of mapped.tagNames) tagNames.add(name.toLowerCase());
    if (!isTicketShown)
      print(
        `Row ${row.row}:\n${JSON.stringify({ ...mapped.ticket, tags: mapped.tagNames, answer: mapped.answer }, undefined, 2)}`,
      );
    isTicketShown = true;
  }
  if (rejected > shownProblems) print(`... and ${rejected - shownProblems} more rows with problems.`);
  print(
    `${count} rows, ${count - rejected} to send, ${rejected} with problems, ${tagNames.size} tags. Nothing was sent.`,
  );
  return rejected;
}
