import type { Attachment } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { requireSizes } from './attach-files.ts';
import type { AttachmentState } from './attachment.ts';
import type { FileContext } from './file-context.ts';
import { countFiles } from './file-quota.ts';
import { storeAll, storeContent } from './store-content.ts';

/**
 * Stores copies of files that another service keeps, piece by piece, as `attachFiles` stores files. The other service
 * has inspected their content. `beside` are files that will be attached together with the copies, and count for the
 * limits.
 *
 * Errors: attachment_too_large, attachments_too_large, too_many_attachments; storage_quota; those of `read`; an Error
 * if a file does not have the size that its record says. No copy is left then.
 */
export async function copyFiles(
  context: Pick<FileContext, 'files' | 'quota' | 'runtime'>,
  { caller }: Pick<Call, 'caller'>,
  originals: readonly Attachment[],
  read: (original: Attachment) => AsyncIterable<Uint8Array>,
  beside: readonly AttachmentState[] = [],
): Promise<AttachmentState[]> {
  requireSizes([...originals, ...beside].map(({ size }) => size));
  return countFiles(context, caller, async (take) => {
    await take(originals.reduce((sum, { size }) => sum + size, 0));
    return storeAll(context, originals, (original) => {
      const { name, size, contentType, fileEnding = null, inline, width = null, height = null } = original;
      const file = { name, size, contentType, fileEnding, inline, width, height };
      return storeContent(context, file, read(original));
    });
  });
}
