import type {
  AttachmentInput,
  DraftAttachmentInput,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { attachFiles, requireSizes } from './attach-files.ts';
import type { AttachmentState } from './attachment.ts';
import type { FileContext } from './file-context.ts';
import { invalidAttachment } from './file-errors.ts';

/** The new list of files of a draft or a template: the files stored for it, and the ids of those that it keeps. */
export interface DraftFiles {
  stored: readonly AttachmentState[];
  /** Returns the list in the order of the request. Errors: unknown_attachment; those of `requireSizes`. */
  listFor(current: readonly AttachmentState[]): AttachmentState[];
}

const pointer = '#/attachments';

/**
 * Stores the new files of a draft or a template.
 *
 * Errors: those of `attachFiles`.
 */
export async function attachDraftFiles(
  context: FileContext,
  call: Call,
  inputs: readonly DraftAttachmentInput[],
): Promise<DraftFiles> {
  inputs.forEach(({ id, name, url, base64 }, index) => {
    if (id !== undefined && inputs.findIndex((other) => other.id === id) < index) {
      throw invalidAttachment(`${pointer}/${index}`, 'is listed twice');
    }
    if (id !== undefined && [name, url, base64].some((value) => value !== undefined)) {
      throw invalidAttachment(`${pointer}/${index}`, 'must have either id or a new file');
    }
  });
  const isNew = ({ id }: DraftAttachmentInput) => id === undefined;
  const newInputs = inputs.filter(isNew).map(({ id: _, $typeName: __, ...input }): AttachmentInput => {
    return { $typeName: 'ticketing.tickets.v1.AttachmentInput', ...input };
  });
  const places = inputs.flatMap((input, index) => (isNew(input) ? index : []));
  const stored = await attachFiles(context, call, newInputs, places);
  return {
    stored,
    listFor(current) {
      const added = stored.values();
      const list = inputs.map((input, index) => {
        if (isNew(input)) return added.next().value;
        const kept = current.find(({ id }) => id === input.id);
        if (kept) return kept;
        const detail = 'is not one of its files';
        throw invalidInput([{ pointer: `${pointer}/${index}/id`, code: 'unknown_attachment', detail }]);
      });
      const files = list.filter((file) => file !== undefined);
      requireSizes(files.map(({ size }) => size));
      return files;
    },
  };
}
