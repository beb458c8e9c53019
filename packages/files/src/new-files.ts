import { mayFollowChange } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { removeFiles } from './attach-files.ts';
import type { AttachmentState } from './attachment.ts';
import type { FileContext } from './file-context.ts';

type StoredKey = Pick<AttachmentState, 'key'>;

/** The files that were stored for a write. They are removed at its end unless the written document lists them. */
export interface NewFiles {
  /** Adds files, and returns them. */
  add<Files extends readonly StoredKey[]>(files: Files): Files;
  /** Records that the written document lists files, which then stay. */
  keep(listed: readonly StoredKey[]): void;
  /**
   * Waits for the write, and removes the files that it has not kept: all of them if it fails. After an error that leaves
   * open whether the write was made, the sweeper decides.
   */
  settle<Result>(write: Promise<Result>): Promise<Result>;
}

/** Makes an empty list of files for one write. */
export function newFiles(context: Pick<FileContext, 'files'>, { log }: Pick<Call, 'log'>): NewFiles {
  const added: StoredKey[] = [];
  const kept = new Set<string>();

  async function removeOthers(): Promise<void> {
    try {
      await removeFiles(
        context,
        added.filter(({ key }) => !kept.has(key)),
      );
    } catch (error) {
      log.warn({ err: error }, 'files that nothing lists are left to the sweeper');
    }
  }

  return {
    add(files) {
      added.push(...files);
      return files;
    },
    keep(listed) {
      for (const { key } of listed) kept.add(key);
    },
    async settle(write) {
      try {
        const result = await write;
        await removeOthers();
        return result;
      } catch (error) {
        if (!mayFollowChange(error)) await removeOthers();
        throw error;
      }
    },
  };
}
