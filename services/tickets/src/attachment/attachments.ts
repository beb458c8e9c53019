import type {
  DeleteAttachmentRequest,
  DeleteAttachmentResponse,
  GetAttachmentRequest,
  GetAttachmentResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { releaseFiles, removeFiles, removePartFiles } from '@ticketing/files/attach-files.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import { attachmentNotFound } from '@ticketing/files/file-errors.ts';
import { sendFile } from '@ticketing/files/send-file.ts';
import { sweepFiles } from '@ticketing/files/sweep-files.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { eventHeaderFor } from '../event-header.ts';
import type { ConversationState } from '../message/rules/fields.ts';
import type { ConversationStore } from '../message/store.ts';
import type { Commit } from '../ticket/commit.ts';
import { decideFields } from '../ticket/rules/decision.ts';
import type { TicketStore } from '../ticket/store/store.ts';

export interface AttachmentDeps {
  tickets: Pick<TicketStore, 'findMessages'>;
  conversations: Pick<ConversationStore, 'findFiles' | 'removeAttachment'>;
  commit: Commit;
  attachments: FileContext;
}

/**
 * Sends a file of a ticket or of one of its messages, or the part of it that the header `Range` names.
 *
 * Errors: attachment_not_found; range_not_satisfiable. Source: docs/reference/api.md, Attachments.
 */
export async function* getAttachment(
  deps: AttachmentDeps,
  call: Call,
  { ticketId, attachmentId }: GetAttachmentRequest,
): AsyncGenerator<GetAttachmentResponse> {
  const { attachment } = await findAttachment(deps, ticketId, attachmentId);
  for await (const body of sendFile(deps.attachments, call, attachment)) {
    yield { $typeName: 'ticketing.tickets.v1.GetAttachmentResponse', body };
  }
}

/**
 * Deletes a file: its entry in the ticket or in the message, its content, its record, and the raw form of the mail in which
 * it came.
 *
 * Errors: attachment_not_found, concurrent_change. Source: docs/reference/api.md, Attachments.
 */
export async function deleteAttachment(
  deps: AttachmentDeps,
  call: Call,
  { ticketId, attachmentId }: DeleteAttachmentRequest,
): Promise<DeleteAttachmentResponse> {
  const { attachment, isOfTicket, conversationIds } = await findAttachment(deps, ticketId, attachmentId);
  // The mails in which it came contain it too.
  await removePartFiles(deps.attachments, conversationIds);
  // If this process dies after the next write, the sweeper removes the file.
  await releaseFiles(deps.attachments, [attachment]);
  if (isOfTicket) await removeFromTicket(deps, call, ticketId, attachmentId);
  // A first message that was sent as a mail lists the files of its ticket too.
  await deps.conversations.removeAttachment(ticketId, attachmentId);
  await removeFiles(deps.attachments, [attachment]);
  return { $typeName: 'ticketing.tickets.v1.DeleteAttachmentResponse', success: true };
}

async function removeFromTicket(
  { commit, attachments: { runtime } }: AttachmentDeps,
  call: Call,
  ticketId: number,
  attachmentId: string,
): Promise<void> {
  try {
    await commit({
      ticketId,
      decide({ ticket }) {
        const attachments = ticket.attachments.filter(({ id }) => id !== attachmentId);
        if (attachments.length === ticket.attachments.length) return {};
        return decideFields(ticket, { attachments }, secondsNow(runtime), eventHeaderFor({ runtime }, call));
      },
    });
  } catch (error) {
    throw error instanceof DomainError && error.code === 'not_found' ? attachmentNotFound('Ticket') : error;
  }
}

/** The files that a ticket lists itself, and those of its messages, drafts included. */
interface ListedFiles {
  ofTicket: readonly AttachmentState[];
  ofMessages: readonly Pick<ConversationState, 'id' | 'attachments'>[];
  openingMessageId: number | null;
  /** All its messages. */
  conversationIds: ReadonlySet<number>;
}

interface FoundAttachment {
  attachment: AttachmentState;
  isOfTicket: boolean;
  /** The messages that list it. */
  conversationIds: readonly number[];
}

type Stores = Pick<AttachmentDeps, 'tickets' | 'conversations'>;

/** Finds the files of a ticket and of its messages, or the one with an id; none if there is no such ticket. */
async function findListed(
  { tickets, conversations }: Stores,
  ticketId: number,
  attachmentId?: string,
): Promise<ListedFiles> {
  // The ticket is read last: it may get a message between the two reads, but not lose one that was found.
  const files = await conversations.findFiles(ticketId, attachmentId);
  const ticket = await tickets.findMessages(ticketId);
  if (!ticket) return { ofTicket: [], ofMessages: [], openingMessageId: null, conversationIds: new Set() };
  const { openingMessageId } = ticket;
  const opening = openingMessageId === null ? [] : [openingMessageId];
  const ids = new Set([...opening, ...ticket.conversationIds, ...ticket.draftIds]);
  const ofMessages = files.filter(({ id }) => ids.has(id));
  return { ofTicket: ticket.attachments, ofMessages, openingMessageId, conversationIds: ids };
}

/** Finds the files of a ticket and of its messages. */
export async function findTicketFiles(stores: Stores, ticketId: number): Promise<readonly AttachmentState[]> {
  return allFiles(await findListed(stores, ticketId));
}

function allFiles({ ofTicket, ofMessages }: Pick<ListedFiles, 'ofTicket' | 'ofMessages'>): AttachmentState[] {
  return [...ofTicket, ...ofMessages.flatMap(({ attachments }) => attachments)];
}

/**
 * Finds a file of a ticket or of one of its messages.
 *
 * Errors: attachment_not_found, also if it belongs to another ticket.
 */
async function findAttachment(stores: Stores, ticketId: number, attachmentId: string): Promise<FoundAttachment> {
  const { ofTicket, ofMessages, openingMessageId } = await findListed(stores, ticketId, attachmentId);
  const isIt = ({ id }: AttachmentState) => id === attachmentId;
  const having = ofMessages.filter(({ attachments }) => attachments.some(isIt));
  const attachment = allFiles({ ofTicket, ofMessages: having }).find(isIt);
  if (!attachment) throw attachmentNotFound('Ticket');
  const isOfTicket = ofTicket.includes(attachment);
  const opening = isOfTicket && openingMessageId !== null ? [openingMessageId] : [];
  return { attachment, isOfTicket, conversationIds: [...opening, ...having.map(({ id }) => id)] };
}

/**
 * Checks the files that were written an hour ago, and removes files that neither ticket nor messages list, and raw mails of
 * messages that the ticket does not have.
 */
export async function sweepTicketFiles(deps: Pick<AttachmentDeps, keyof Stores | 'attachments'>): Promise<void> {
  await sweepFiles(deps.attachments, async (ticketId, files) => {
    const listed = await findListed(deps, ticketId);
    const rawMails = files.filter(({ part }) => part && listed.conversationIds.has(part.id));
    return new Set([...allFiles(listed), ...rawMails].map(({ key }) => key));
  });
}
