import type {
  GetConversationRequest,
  GetConversationResponse,
  ListConversationsRequest,
  ListConversationsResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/conversation_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { isLargePage, type PageBudget, requirePageSize } from '@ticketing/store/paging/page-budget.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import { messageBytes } from './rules/fields.ts';
import type { ConversationStore } from './store.ts';
import type { MessageViews, ShownConversation } from './views.ts';

interface ReadMessageDeps {
  tickets: Pick<TicketStore, 'findMessages'>;
  conversations: ConversationStore;
  views: MessageViews;
  pages: PageBudget;
}

/**
 * Reads a message of a ticket.
 *
 * Errors: ticket_not_found; conversation_not_found; too_much_at_once, for a large one.
 * Source: docs/reference/api.md, Conversations.
 */
export async function getConversation(
  { views }: Pick<ReadMessageDeps, 'views'>,
  call: Call,
  { ticketId, conversationId }: GetConversationRequest,
): Promise<GetConversationResponse> {
  return {
    $typeName: 'ticketing.tickets.v1.GetConversationResponse',
    conversation: await views.single(call, { ticketId, conversationId }),
  };
}

const defaultLimit = 100;

/**
 * Lists the messages of a ticket, oldest first. The body of the ticket at its creation is the first one in any case.
 *
 * Errors: ticket_not_found; page_too_large, too_much_at_once; sandbox_busy, sandbox_crashed.
 * Source: docs/reference/api.md, Conversations.
 */
export async function listConversations(
  deps: ReadMessageDeps,
  call: Call,
  { ticketId, limit = defaultLimit, offset = 0 }: ListConversationsRequest,
): Promise<ListConversationsResponse> {
  const [messages, stored] = await Promise.all([
    deps.tickets.findMessages(ticketId),
    deps.conversations.findSizes(ticketId),
  ]);
  if (!messages) throw notFound('Ticket');
  const { conversationIds, draftIds, openingMessageId } = messages;
  const ids = new Set([...conversationIds, ...draftIds]);
  const isFirst = ({ id }: { id: number }) => Number(id === openingMessageId);
  const entries = stored.filter(({ id }) => ids.has(id)).sort((left, right) => isFirst(right) - isFirst(left));
  const hasOpening = openingMessageId !== null && !ids.has(openingMessageId);
  const page = entries.slice(Math.max(0, hasOpening ? offset - 1 : offset)).slice(0, limit);
  const opening = hasOpening && offset === 0 ? await deps.views.readOpening(call.caller, ticketId) : undefined;
  if (opening && page.length === limit) page.pop();
  const sizes = [...(opening ? [messageBytes(opening.conversation)] : []), ...page.map(({ bytes }) => bytes)];
  requirePageSize(sizes);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  await deps.pages.take(callerKey(call.caller), bytes, call);
  const found = await deps.conversations.findSome(page.map(({ id }) => id));
  const byId = new Map(found.map((one) => [one.conversation.id, one.conversation]));
  const shown = page.flatMap(({ id }): ShownConversation[] => {
    const conversation = byId.get(id);
    return conversation ? [{ conversation, isDraft: draftIds.includes(id) }] : [];
  });
  const response: ListConversationsResponse = {
    $typeName: 'ticketing.tickets.v1.ListConversationsResponse',
    success: true,
    conversations: await deps.views.list(opening ? [opening, ...shown] : shown, call),
    total: entries.length + (hasOpening ? 1 : 0),
    offset,
    limit,
  };
  return isLargePage(sizes) ? markAsLarge(response) : response;
}
