import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiClient } from '../import/api-client.ts';
import { makeDevelopmentToken } from '../import/development-token.ts';
import { withProgress } from '../import/progress.ts';
import { RejectFile } from '../import/rejects.ts';
import type { CommandContext } from '../import/run-command.ts';
import { InterruptedError, StopError } from '../import/stop-error.ts';
import { doneOf, type MailCount, mailProgress, mailSummary, newMailCount } from './mail-count.ts';
import { type MailFile, readMailFile } from './mail-file.ts';
import { MailImport } from './mail-import.ts';
import type { MailOptions } from './mail-options.ts';
import { type OrderedMail, orderMails } from './mail-order.ts';

/**
 * Imports the mails of a folder.
 *
 * Shape: the exit code: 0 all mails are imported, 2 some were refused, 130 interrupted.
 * Errors: StopError.
 */
export async function importFolder(options: MailOptions, context: CommandContext): Promise<number> {
  const { print } = context;
  const mails = orderMails(await readFolder(options));
  if (options.isDryRun) {
    print(dryRunSummary(mails));
    return 0;
  }
  const count = newMailCount(mails.length, Date.now());
  const rejects = new RejectFile(options.folder.replace(/[/\\]+$/, ''), context.folder, ['file'], ',');
  const stop = new AbortController();
  context.signal.addEventListener('abort', () => stop.abort(), { once: true });
  if (context.signal.aborted) stop.abort();
  const client = await openClient(options, stop.signal, count);
  const { subchannelId, keepsDate, concurrency } = options;
  try {
    const work = new MailImport({ client, rejects, count, subchannelId, keepsDate }).run(mails, concurrency, stop);
    const line = () => mailProgress(count, Date.now());
    await withProgress(context.isTerminal, line, () => doneOf(count) / Math.max(1, count.files), print, work);
    if (count.refused === 0) rejects.removeStale();
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error;
    print('Interrupted. Run the same command again to continue from here.');
    return 130;
  } finally {
    client.close();
    rejects.close();
    if (rejects.path !== undefined) print(`Refused mails: ${rejects.path}`);
    print(mailSummary(count, Date.now()));
  }
  return count.refused > 0 ? 2 : 0;
}

async function openClient(options: MailOptions, signal: AbortSignal, count: MailCount): Promise<ApiClient> {
  return new ApiClient({
    url: options.url,
    token: options.token ?? (await makeDevelopmentToken(options.dataFolder, 'manageTags')),
    connections: options.concurrency,
    signal,
    onWait: (waitMs, reason) => {
      count.waiting = { untilMs: Date.now() + waitMs, reason };
    },
  });
}

async function readFolder({ folder, limit }: MailOptions): Promise<MailFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw new StopError(`Cannot read ${folder}: ${error instanceof Error ? error.message : String(error)}.`);
  });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  if (paths.length === 0) throw new StopError(`There is no file in ${folder}.`);
  const files: MailFile[] = [];
  for (const path of paths.sort().slice(0, limit)) files.push(await readMailFile(path));
  return files;
}

function dryRunSummary(mails: readonly OrderedMail[]): string {
  const withoutId = mails.filter(({ file }) => file.messageId === undefined).length;
  const answers = mails.filter(({ after }) => after.length > 0).length;
  const lines = [
    ['files', mails.length],
    ['without a Message-ID', withoutId],
    ['answers to others', answers],
  ] as const;
  return lines.map(([name, value]) => `${name.padEnd(21)} ${value}`).join('\n');
}
