import { Direction, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { ConversationState } from './conversation.ts';
import { setFields } from './ticket-change.ts';
import type { ConversationStep, TicketDecision } from './ticket-decision.ts';
import { conversationEvent, type EventHeader, updatedEvent } from './ticket-event.ts';
import type { TicketInput, TicketState } from './ticket-fields.ts';

/** What a decision on a message depends on, apart from ticket and message. Units: `now` in Unix seconds. */
export interface MessageContext {
  now: number;
  header: EventHeader;
  /** Whether a header rule says that a program sent it. Such a message reopens nothing. */
  isProgrammatic?: boolean;
  /** What else the message changes in its ticket. */
  input?: TicketInput;
}

/** Decides how a new message changes its ticket. Source: docs/reference/api.md, Conversations. */
export function decideAddedMessage(
  ticket: TicketState,
  message: ConversationState,
  context: MessageContext,
): TicketDecision {
  return decide(ticket, message, context, 'conversation.created', { added: message.id });
}

/** Decides how the publishing of a draft changes its ticket. Source: docs/reference/api.md, Conversations. */
export function decidePublishedDraft(
  ticket: TicketState,
  message: ConversationState,
  context: MessageContext,
): TicketDecision {
  return decide(ticket, message, context, 'conversation.published', { published: message.id });
}

/** Decides how the deletion of a private note changes its ticket. Source: docs/reference/api.md, Conversations. */
export function decideDeletedNote(
  ticket: TicketState,
  message: ConversationState,
  { now, header }: MessageContext,
): TicketDecision {
  const change = setFields(ticket, { internalMessages: Math.max(0, ticket.internalMessages - 1) }, now);
  const event = { ...updatedEvent(ticket, change, header), conversationId: message.id };
  return { change: { ...change, event }, conversation: { removed: message.id } };
}

function decide(
  ticket: TicketState,
  message: ConversationState,
  { now, header, isProgrammatic = false, input = {} }: MessageContext,
  type: 'conversation.created' | 'conversation.published',
  conversation: ConversationStep,
): TicketDecision {
  const reopens = message.direction === Direction.IN && !isProgrammatic && ticket.status !== TicketStatus.OPEN;
  const change = setFields(
    ticket,
    {
      ...input,
      ...countOf(ticket, message.direction),
      ...(message.private ? {} : latestMessageOf(ticket, message, now)),
      ...(reopens ? { status: TicketStatus.OPEN } : {}),
    },
    now,
  );
  const event = conversationEvent(type, ticket, change, header, message);
  return { change: { ...change, event }, conversation };
}

function countOf(ticket: TicketState, direction: Direction): TicketInput {
  if (direction === Direction.IN) return { incomingMessages: ticket.incomingMessages + 1 };
  if (direction === Direction.OUT) return { outgoingMessages: ticket.outgoingMessages + 1 };
  return { internalMessages: ticket.internalMessages + 1 };
}

/** What the latest message says of a ticket. An older message that is recorded later leaves it as it is. */
function latestMessageOf(ticket: TicketState, message: ConversationState, now: number): TicketInput {
  // A time in the future would keep all later messages from counting as the latest.
  const at = Math.min(message.createdAt ?? now, now);
  const isCustomers = message.direction === Direction.IN;
  const { direction, from, to, cc, bcc } = message;
  return {
    ...(isCustomers ? { lastCustomerMessageAt: Math.max(at, ticket.lastCustomerMessageAt ?? at) } : {}),
    ...(at < (ticket.lastMessageAt ?? at)
      ? {}
      : {
          lastMessageAt: at,
          ...(direction === Direction.INTERNAL ? {} : { latestMessage: { direction, from, to, cc, bcc } }),
          ...(direction === Direction.OUT ? { lastResponseAuthorId: message.agentId } : {}),
        }),
  };
}
