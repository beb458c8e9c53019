import type {
  GetConversationRequest,
  GetConversationResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { singleConversation } from './to-proto.ts';

/**
 * Reads a message of a ticket.
 *
 * Errors: ticket_not_found; conversation_not_found; too_much_at_once, for a large one.
 * Source: docs/reference/api.md, Conversations.
 */
export async function getConversation(
  context: Context,
  call: Call,
  { ticketId, conversationId }: GetConversationRequest,
): Promise<GetConversationResponse> {
  return {
    $typeName: 'ticketing.tickets.v1.GetConversationResponse',
    conversation: await singleConversation(context, call, { ticketId, conversationId }),
  };
}
