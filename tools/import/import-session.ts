import { ApiClient } from './api-client.ts';
import type { CommandContext } from './command-context.ts';
import { type CsvRow, openCsv } from './csv-rows.ts';
import { makeDevelopmentToken } from './development-token.ts';
import { digestFile } from './file-digest.ts';
import { withProgress } from './progress.ts';
import { RejectFile } from './rejects.ts';
import { InterruptedError } from './row-errors.ts';

/** The options that all imports have. */
export interface SessionOptions {
  file: string;
  url: URL;
  token: string | undefined;
  dataFolder: string;
  concurrency: number;
  delimiter: string;
  /** Infinity when not given. */
  limit: number;
}

/** The counts that all imports have. */
export interface SessionCount {
  rejected: number;
  /** The fraction of the file, or of the rows up to `--limit`, that is done: 0 to 1. */
  doneFraction: number;
  /** The end of the wait before the import sends again, and its reason, which is empty before the first wait. */
  waiting: { untilMs: number; reason: string };
}

/** A CSV file that is about to be imported. */
export interface OpenedFile {
  /** Identifies it by its content. */
  id: string;
  header: string[];
  rows: AsyncGenerator<CsvRow>;
  /** The fraction of the import that is done once a row is done. */
  doneFractionAt(row: CsvRow): number;
}

/** Opens the file of an import. Errors: UsageError. */
export async function openFile({ file, delimiter, limit }: SessionOptions): Promise<OpenedFile> {
  const { id, sizeBytes } = await digestFile(file);
  const { header, rows } = await openCsv(file, delimiter);
  const doneFractionAt = (row: CsvRow) => Math.min(1, Math.max(row.endByte / sizeBytes, row.row / limit));
  return { id, header, rows, doneFractionAt };
}

/** An import that is running. */
export interface ImportSession {
  client: ApiClient;
  rejects: RejectFile;
  /** Aborts when the import has to end. */
  stop: AbortController;
}

/** The work of a kind of import with its rows, and its presentation. */
export interface SessionWork<Count extends SessionCount> {
  header: readonly string[];
  count: Count;
  /** The name of the file of rejects in the output, as in "Rejected rows". */
  rejectsName: string;
  /** A right that the token for the local system needs. */
  right: string;
  run(session: ImportSession): Promise<void>;
  progressLine(count: Count): string;
  /** Undefined if nothing was done. */
  summary(count: Count): string | undefined;
}

/**
 * Runs an import, and shows its progress, its rejected rows and its summary.
 *
 * Shape: the exit code: 0 all rows are imported, 2 some were rejected, 130 interrupted.
 * Errors: UsageError.
 */
export async function runSession<Count extends SessionCount>(
  options: Omit<SessionOptions, 'limit'>,
  { print, folder, isTerminal, signal }: CommandContext,
  { header, count, rejectsName, right, run, progressLine, summary }: SessionWork<Count>,
): Promise<number> {
  const rejects = new RejectFile(options.file, folder, header, options.delimiter);
  const stop = new AbortController();
  signal.addEventListener('abort', () => stop.abort(), { once: true });
  if (signal.aborted) stop.abort();
  const client = new ApiClient({
    url: options.url,
    token: options.token ?? (await makeDevelopmentToken(options.dataFolder, right)),
    connections: options.concurrency,
    signal: stop.signal,
    onWait: (waitMs, reason) => {
      count.waiting = { untilMs: Date.now() + waitMs, reason };
    },
  });
  try {
    const work = run({ client, rejects, stop });
    await withProgress(
      isTerminal,
      () => progressLine(count),
      () => count.doneFraction,
      print,
      work,
    );
    if (count.rejected === 0) rejects.removeStale();
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    print('Interrupted. Run the same command again to continue from here.');
    return 130;
  } finally {
    client.close();
    rejects.close();
    const text = summary(count);
    if (rejects.path !== undefined) print(`${rejectsName}: ${rejects.path}`);
    if (text !== undefined) print(text);
  }
  return count.rejected > 0 ? 2 : 0;
}
