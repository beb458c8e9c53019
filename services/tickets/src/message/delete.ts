import type {
  DeleteConversationRequest,
  DeleteConversationResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { releaseFiles, removeFiles } from '@ticketing/files/attach-files.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { eventHeaderOf } from '../ticket/event-header.ts';
import { writeTicket } from '../ticket/write.ts';
import { findConversation } from './find.ts';
import { requireNoteRight } from './require-note-right.ts';
import { decideDeletedNote } from './rules/decision.ts';
import { messageWasSent } from './was-sent.ts';

/**
 * Deletes a draft or a private note. A note counts among the messages of its ticket, so its deletion changes the ticket.
 *
 * Errors: ticket_not_found, conversation_not_found; message_was_sent; not_the_author. Source: docs/reference/api.md, Conversations.
 */
export async function deleteConversation(
  context: Context,
  call: Call,
  request: DeleteConversationRequest,
): Promise<DeleteConversationResponse> {
  const { ticketId, conversationId } = request;
  const { stored, isDraft } = await findConversation(context, { ticketId, conversationId });
  if (!stored || !(isDraft || stored.conversation.private)) throw messageWasSent();
  if (!isDraft) requireNoteRight(call.caller, stored.conversation);
  // If this process dies after the next write, the message is found and removed later.
  await context.conversations.setUnseen(conversationId);
  const { attachments } = stored.conversation;
  await releaseFiles(context, attachments);
  if (isDraft) {
    // It was published or deleted meanwhile.
    if (!(await context.tickets.removeDraft(ticketId, conversationId)))
      return deleteConversation(context, call, request);
  } else {
    await writeTicket(context, ticketId, ({ ticket, conversationIds }) => {
      if (!conversationIds.includes(conversationId)) throw notFound('Conversation');
      const header = eventHeaderOf(context, call);
      return decideDeletedNote(ticket, stored.conversation, { now: context.now(), header });
    });
  }
  await context.externalMessageIds.freeMessage(conversationId);
  await context.conversations.remove(conversationId);
  await removeFiles(context, attachments);
  return { $typeName: 'ticketing.tickets.v1.DeleteConversationResponse', success: true };
}
