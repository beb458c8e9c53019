import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../cli/command.ts';
import type { CommandContext } from '../import/command-context.ts';
import { runSession } from '../import/import-session.ts';
import { mailProgress, mailSummary, newMailCount } from './mail-count.ts';
import { type MailFile, readMailFile } from './mail-file.ts';
import { MailImport } from './mail-import.ts';
import { type OrderedMail, orderMails } from './mail-order.ts';

/** The options of `npm run import:mail`. */
interface MailOptions {
  folder: string;
  url: URL;
  token: string | undefined;
  dataFolder: string;
  concurrency: number;
  subchannelId: number | undefined;
  keepsDate: boolean;
  /** Infinity when not given. */
  limit: number;
  isDryRun: boolean;
}

/**
 * Imports the mails of a folder.
 *
 * Shape: the exit code: 0 all mails are imported, 2 some were refused, 130 interrupted.
 * Errors: UsageError.
 */
export async function importFolder(options: MailOptions, context: CommandContext): Promise<number> {
  const { print } = context;
  const mails = orderMails(await readFolder(options));
  if (options.isDryRun) {
    print(dryRunSummary(mails));
    return 0;
  }
  const count = newMailCount(mails.length, Date.now());
  const { subchannelId, keepsDate, concurrency } = options;
  // The list of rejects is put beside the folder.
  const session = { ...options, file: options.folder.replace(/[/\\]+$/, ''), delimiter: ',' };
  return runSession(session, context, {
    header: ['file'],
    count,
    rejectsName: 'Refused mails',
    right: 'manageTags',
    run: ({ client, rejects, stop }) =>
      new MailImport({ client, rejects, count, subchannelId, keepsDate }).run(mails, concurrency, stop),
    progressLine: () => mailProgress(count, Date.now()),
    summary: () => mailSummary(count, Date.now()),
  });
}

async function readFolder({ folder, limit }: MailOptions): Promise<MailFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw new UsageError(`Cannot read ${folder}: ${error instanceof Error ? error.message : String(error)}.`);
  });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  if (paths.length === 0) throw new UsageError(`There is no file in ${folder}.`);
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
