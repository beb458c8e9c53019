import { mayFollowChange } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { removeFiles } from './attach-files.ts';
import type { AttachmentState } from './attachment.ts';
import type { FileContext } from './file-context.ts';

/**
 * Runs a write that lists files which were just stored, then removes the files that its result does not list: all of
 * them if it fails, or if it belongs to a repeated request, whose first attempt has stored its own files. After an
 * error that leaves open whether the write was made, the sweeper decides.
 */
export async function writeWithFiles<Result>(
  context: Pick<FileContext, 'files'>,
  { log }: Pick<Call, 'log'>,
  attachments: readonly AttachmentState[],
  write: () => Promise<Result>,
  listedBy: (result: Result) => readonly AttachmentState[],
): Promise<Result> {
  const remove = (unlisted: readonly AttachmentState[]) =>
    removeFiles(context, unlisted).catch((error: unknown) => {
      log.warn({ err: error }, 'files that nothing lists are left to the sweeper');
    });
  let result: Result;
  try {
    result = await write();
  } catch (error) {
    if (!mayFollowChange(error)) await remove(attachments);
    throw error;
  }
  const listed = new Set(listedBy(result).map(({ key }) => key));
  await remove(attachments.filter(({ key }) => !listed.has(key)));
  return result;
}
