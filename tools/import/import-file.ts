import type { CommandContext } from './command-context.ts';
import { dryRun } from './dry-run.ts';
import { newCount, progressLine, renderSummary, toRows } from './import-count.ts';
import { type ImportSession, openFile, runSession, type SessionOptions } from './import-session.ts';
import { type MappingOptions, planMapping } from './map-row.ts';
import { TagDirectory } from './tag-directory.ts';
import { TicketImport } from './ticket-import.ts';

/** The options of `npm run import`. */
interface ImportOptions extends SessionOptions {
  mapping: MappingOptions;
  tagType: string;
  process: string;
  isDryRun: boolean;
}

/** Tags are looked up and created while requests with many tickets take seconds. */
const connectionsForTags = 8;

/**
 * Imports a CSV file of tickets.
 *
 * Shape: the exit code: 0 all rows are imported, 2 some were rejected, 130 interrupted.
 * Errors: UsageError.
 */
export async function importFile(options: ImportOptions, context: CommandContext): Promise<number> {
  const count = newCount(Date.now());
  const { id: fileId, header, rows, doneFractionAt } = await openFile(options);
  const mapping = planMapping(header, options.mapping);
  const { process, limit, concurrency } = options;
  if (options.isDryRun) return (await dryRun(rows, mapping, limit, context.print)) > 0 ? 2 : 0;

  const run = async ({ client, rejects, stop }: ImportSession): Promise<void> => {
    const tags = new TagDirectory(client, options.tagType);
    const parts = { client, tags, mapping, rejects, count, fileId, process, limit, doneFractionAt };
    try {
      if (mapping.tagIndexes.length > 0) await tags.load();
      await new TicketImport(parts).run(rows, concurrency, stop);
    } finally {
      count.tagsCreated = tags.created;
    }
  };
  return runSession({ ...options, concurrency: concurrency + connectionsForTags }, context, {
    header,
    count,
    rejectsName: 'Rejected rows',
    right: 'manageTags',
    run,
    progressLine: () => progressLine(count, Date.now()),
    summary: () => (toRows(count) > 0 ? renderSummary(count, Date.now()) : undefined),
  });
}
