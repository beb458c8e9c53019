import { attachBytes, removeFiles } from '@ticketing/files/attach-files.ts';
import { type AttachmentState, maxMessageFiles } from '@ticketing/files/attachment.ts';
import type { Context } from '../context.ts';
import type { MailCall } from './incoming-mail.ts';
import type { MailFile } from './mail.ts';

/**
 * Stores the files of a mail, which may be more than a request can have: its sender cannot send it in another form. The
 * reader of mails has checked their sizes.
 */
export async function attachMailFiles(
  context: Context,
  call: Pick<MailCall, 'caller'>,
  files: readonly MailFile[],
): Promise<AttachmentState[]> {
  const stored: AttachmentState[] = [];
  try {
    for (let start = 0; start < files.length; start += maxMessageFiles) {
      stored.push(...(await attachBytes(context, call, files.slice(start, start + maxMessageFiles))));
    }
  } catch (error) {
    // If this fails too, the sweeper removes them.
    await removeFiles(context, stored).catch(() => undefined);
    throw error;
  }
  return stored;
}
