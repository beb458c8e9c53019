import { DeliveryStatus } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import type {
  ResendConversationRequest,
  ResendConversationResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { findConversation } from '../message/checks.ts';
import type { ConversationStore } from '../message/store.ts';
import type { MessageViews } from '../message/views.ts';
import { ticketSubject } from '../ticket/store/document.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import { type ShowDeps, tryToShow } from './show-delivery.ts';

interface ResendDeps {
  tickets: Pick<TicketStore, 'findMessages'>;
  conversations: ConversationStore;
  views: Pick<MessageViews, 'single'>;
  deliveries: ShowDeps;
  mailQueue: { wake(): void };
  runtime: Runtime;
}

/**
 * Queues a message again that could not be sent as a mail, for the recipients that it has not reached. Its `Message-ID`
 * stays the same.
 *
 * Errors: ticket_not_found, conversation_not_found; message_not_failed. Source: docs/reference/api.md, Outgoing mail.
 */
export async function resendConversation(
  deps: ResendDeps,
  call: Call,
  { ticketId, conversationId }: ResendConversationRequest,
): Promise<ResendConversationResponse> {
  const { stored, isDraft } = await findConversation(deps, { ticketId, conversationId });
  const mail = stored?.mail;
  const hasFailed = !isDraft && mail && stored.conversation.deliveryStatus === DeliveryStatus.FAILED;
  const isQueued =
    hasFailed &&
    (await deps.conversations.update(stored, {
      set: { deliveryStatus: DeliveryStatus.QUEUED, deliveryError: null, modifiedAt: secondsNow(deps.runtime) },
      mail: {
        ...mail,
        ...{ attempts: 0, nextAttemptAt: new Date(0), lastError: null },
        reached: mail.reached.filter((address) => !stored.bounced.includes(address)),
      },
      bounced: [],
    }));
  if (!isQueued) {
    throw new DomainError('failed_precondition', 'message_not_failed', 'Only a mail that has failed is sent again.');
  }
  await tryToShow(deps.deliveries, call.log, { ticketId, conversationId });
  deps.mailQueue.wake();
  call.idempotency?.addSubject(ticketSubject(ticketId));
  return {
    $typeName: 'ticketing.tickets.v1.ResendConversationResponse',
    success: true,
    conversation: await deps.views.single(call, { ticketId, conversationId }, true),
  };
}
