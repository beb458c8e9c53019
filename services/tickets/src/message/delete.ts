import type {
  DeleteConversationRequest,
  DeleteConversationResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { releaseFiles, removeFiles } from '@ticketing/files/attach-files.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { eventHeaderFor } from '../event-header.ts';
import type { Commit } from '../ticket/commit.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import type { MessageStores } from './add.ts';
import { findConversation, messageWasSent, requireNoteRight } from './checks.ts';
import { decideDeletedNote } from './rules/decision.ts';

/** The dependencies of `deleteConversation`. */
export interface DeleteConversationDeps {
  messages: MessageStores;
  tickets: TicketStore;
  commit: Commit;
  attachments: FileContext;
  runtime: Runtime;
}

/**
 * Deletes a draft or a private note. A note counts among the messages of its ticket, so its deletion changes the ticket.
 *
 * Errors: ticket_not_found, conversation_not_found; message_was_sent; not_the_author. Source: docs/reference/api.md, Conversations.
 */
export async function deleteConversation(
  deps: DeleteConversationDeps,
  call: Call,
  request: DeleteConversationRequest,
): Promise<DeleteConversationResponse> {
  const { ticketId, conversationId } = request;
  const { conversations, externalMessageIds } = deps.messages;
  const { stored, isDraft } = await findConversation(
    { tickets: deps.tickets, conversations },
    { ticketId, conversationId },
  );
  if (!stored || !(isDraft || stored.conversation.private)) throw messageWasSent();
  if (!isDraft) requireNoteRight(call.caller, stored.conversation);
  // If this process dies after the next write, the message is found and removed later.
  await conversations.setUnseen(conversationId);
  const { attachments } = stored.conversation;
  await releaseFiles(deps.attachments, attachments);
  if (isDraft) {
    // It was published or deleted meanwhile.
    if (!(await deps.tickets.removeDraft(ticketId, conversationId))) return deleteConversation(deps, call, request);
  } else {
    await deps.commit({
      ticketId,
      decide({ ticket, conversationIds }) {
        if (!conversationIds.includes(conversationId)) throw notFound('Conversation');
        const header = eventHeaderFor(deps, call);
        return decideDeletedNote(ticket, stored.conversation, { now: secondsNow(deps.runtime), header });
      },
    });
  }
  await externalMessageIds.freeMessage(conversationId);
  await conversations.remove(conversationId);
  await removeFiles(deps.attachments, attachments);
  return { $typeName: 'ticketing.tickets.v1.DeleteConversationResponse', success: true };
}
