import type { StoredFile } from '../store/file-store.ts';
import type { Context } from './context.ts';
import { listedFiles } from './find-attachment.ts';

const batchSize = 100;

/**
 * Checks the files that were written an hour ago: those that a ticket or a message lists stay for good; the others, whose
 * writers have died or failed, are removed.
 */
export async function sweepFiles(context: Context): Promise<void> {
  for (;;) {
    const files = await context.files.toCheck(new Date(context.runtime.now()), batchSize);
    for (const [ticketId, ofTicket] of Map.groupBy(files, (file) => file.ticketId))
      await checkFiles(context, ticketId, ofTicket);
    if (files.length < batchSize) return;
  }
}

async function checkFiles(context: Context, ticketId: number | null, files: readonly StoredFile[]): Promise<void> {
  const listed = ticketId === null ? new Set<string>() : await listedKeys(context, ticketId);
  const keys = files.map(({ key }) => key);
  await context.files.settle(keys.filter((key) => listed.has(key)));
  await context.files.remove(keys.filter((key) => !listed.has(key)));
}

async function listedKeys(context: Context, ticketId: number): Promise<ReadonlySet<string>> {
  const { ofTicket, ofMessages } = await listedFiles(context, ticketId);
  return new Set([...ofTicket, ...ofMessages].map(({ key }) => key));
}

/** Removes the files of a deleted ticket and of its messages. */
export async function eraseFiles({ files }: Pick<Context, 'files'>, ticketId: number): Promise<void> {
  for (;;) {
    const keys = await files.ofTicket(ticketId, batchSize);
    await files.remove(keys);
    if (keys.length < batchSize) return;
  }
}
