import { ApiClient } from './api-client.ts';
import { type CsvRow, openCsv } from './csv-rows.ts';
import { makeDevelopmentToken } from './development-token.ts';
import { dryRun } from './dry-run.ts';
import { digestFile } from './file-digest.ts';
import { newCount, progressLine, rowsOf, summaryOf } from './import-count.ts';
import { planMapping } from './map-row.ts';
import type { ImportOptions } from './options.ts';
import { withProgress } from './progress.ts';
import { RejectFile } from './rejects.ts';
import type { CommandContext } from './run-command.ts';
import { InterruptedError } from './stop-error.ts';
import { TagDirectory } from './tag-directory.ts';
import { TicketImport } from './ticket-import.ts';

/**
 * Imports a CSV file.
 *
 * Shape: the exit code: 0 all rows are imported, 2 some were rejected, 130 interrupted.
 * Errors: StopError.
 */
export async function importFile(options: ImportOptions, context: CommandContext): Promise<number> {
  const { print } = context;
  const startedMs = Date.now();
  const { id, sizeBytes } = await digestFile(options.file);
  const { header, rows } = await openCsv(options.file, options.delimiter);
  const mapping = planMapping(header, options.mapping);
  if (options.isDryRun) return (await dryRun(rows, mapping, options.limit, print)) > 0 ? 2 : 0;

  const count = newCount(startedMs);
  const rejects = new RejectFile(options.file, context.folder, header, options.delimiter);
  const stop = new AbortController();
  context.signal.addEventListener('abort', () => stop.abort(), { once: true });
  if (context.signal.aborted) stop.abort();
  const client = new ApiClient({
    url: options.url,
    token: options.token ?? (await makeDevelopmentToken(options.dataFolder)),
    connections: options.concurrency,
    signal: stop.signal,
    onWait: (waitMs, reason) => {
      count.waiting = { untilMs: Date.now() + waitMs, reason };
    },
  });
  const tags = new TagDirectory(client, options.tagType);
  const doneFractionAt = (row: CsvRow): number =>
    Math.min(1, Math.max(row.endByte / sizeBytes, row.row / options.limit));
  const parts = { client, tags, mapping, rejects, count, fileId: id, process: options.process, limit: options.limit };
  const work = async (): Promise<void> => {
    if (mapping.tagIndexes.length > 0) await tags.load();
    await new TicketImport({ ...parts, doneFractionAt }).run(rows, options.concurrency, stop);
  };
  try {
    const line = (): string => progressLine(count, Date.now());
    await withProgress(context.isTerminal, line, () => count.doneFraction, print, work());
    if (count.rejected === 0) rejects.removeStale();
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    print('Interrupted. Run the same command again to continue from here.');
    return 130;
  } finally {
    client.close();
    rejects.close();
    count.tagsCreated = tags.created;
    if (rejects.path !== undefined) print(`Rejected rows: ${rejects.path}`);
    if (rowsOf(count) > 0) print(summaryOf(count, Date.now()));
  }
  return count.rejected > 0 ? 2 : 0;
}
