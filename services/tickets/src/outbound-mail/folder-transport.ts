import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { failedForAll, type MailTransport } from './transport.ts';

/**
 * Puts mails as `.eml` files into a folder. The name of a file is made of the `Message-ID`, so that a mail that is sent
 * twice is one file. A file appears when it is whole.
 */
export function folderTransport(folder: string): MailTransport {
  return {
    async send(mail, signal) {
      const file = join(folder, fileName(mail.messageId));
      const unfinished = `${file}.part`;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        // Flushed, so that the mail is on the disk before it counts as sent.
        await pipeline(mail.open(), createWriteStream(unfinished, { mode: 0o600, flush: true }), { signal });
        await rename(unfinished, file);
        return { accepted: [...mail.envelope.to], deferred: [], refused: [], error: null };
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => undefined);
        signal.throwIfAborted();
        return failedForAll(mail, 'deferred', error instanceof Error ? error.message : String(error));
      }
    },
    close: async () => undefined,
  };
}

/** The name of the file of a mail. One whose `Message-ID` has characters that not every file system takes is hashed. */
function fileName(messageId: string): string {
  const name = messageId.replace(/^<|>$/g, '');
  const isSafe = /^[a-z0-9][a-z0-9@._-]{0,199}$/.test(name);
  return `${isSafe ? name : createHash('sha256').update(messageId).digest('hex')}.eml`;
}
