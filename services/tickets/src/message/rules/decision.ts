import { DeliveryStatus } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Direction, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { EventHeader } from '../../rules/event-header.ts';
import { foldedAddress } from '../../rules/mail-headers.ts';
import { type MailThread, mailThread, referencesTo } from '../../rules/mail-thread.ts';
import { setFields } from '../../ticket/rules/change.ts';
import type { TicketDecision } from '../../ticket/rules/decision.ts';
import { conversationEvent, failedEvent, updatedEvent } from '../../ticket/rules/event.ts';
import type { TicketInput, TicketState } from '../../ticket/rules/fields.ts';
import type { AddressedTicket } from '../../ticket/rules/reply-recipients.ts';
import type { MessageWords } from '../../ticket/rules/search-words.ts';
import type { ConversationState } from './fields.ts';
import { isToNobody } from './reply.ts';

/** The context of a decision on a message. Units: `now` in Unix seconds. */
export interface MessageContext {
  now: number;
  header: EventHeader;
  /**
   * Whether a program sent it. Such a message reopens, counts and recommends nothing, changes no time, and no mail answers
   * it.
   */
  isProgrammatic?: boolean;
  /**
   * The address that must be a participant for the message to become the latest one, from which reply recipients are
   * recommended; null: it cannot become it. Without it, every message becomes it.
   */
  participant?: string | null | undefined;
  /** Whether it was received as a mail. */
  isMail?: boolean;
  /** The addresses of its `Reply-To`. */
  replyTo?: readonly string[];
  /** Its thread, if it is a received mail. By default it continues the thread of the ticket. */
  thread?: MailThread | null;
  /** The message whose failure this note is about, and whether the note opens the ticket. */
  failed?: { conversationId: number; opens: boolean } | undefined;
  /** The other fields that the message changes in its ticket. */
  input?: TicketInput;
  /** Its search words. */
  words?: MessageWords;
}

/** Decides how a new message changes its ticket. Source: docs/reference/api.md, Conversations. */
export function decideAddedMessage(
  ticket: TicketState,
  message: ConversationState,
  context: MessageContext,
): TicketDecision {
  return decide(ticket, message, context, 'conversation.created', 'added');
}

/** Decides how the publishing of a draft changes its ticket. Source: docs/reference/api.md, Conversations. */
export function decidePublishedDraft(
  ticket: TicketState,
  message: ConversationState,
  context: MessageContext,
): TicketDecision {
  return decide(ticket, message, context, 'conversation.published', 'published');
}

/** Decides that a message has another text or other files: a new version of its ticket, which counts no message. */
export function decideChangedMessage(
  ticket: TicketState,
  conversationId: number,
  { now, header, input = {} }: Pick<MessageContext, 'now' | 'header' | 'input'>,
): TicketDecision {
  const change = setFields(ticket, input, now);
  const event = { ...updatedEvent(ticket, change, header), conversationId };
  return { change: { ...change, event }, conversation: { changed: conversationId } };
}

/** Decides how the deletion of a private note changes its ticket. Source: docs/reference/api.md, Conversations. */
export function decideDeletedNote(
  ticket: TicketState,
  message: ConversationState,
  { now, header }: MessageContext,
): TicketDecision {
  const input = { internalMessages: Math.max(0, ticket.internalMessages - 1) };
  return { ...decideChangedMessage(ticket, message.id, { now, header, input }), conversation: { removed: message.id } };
}

function decide(
  ticket: TicketState,
  message: ConversationState,
  { now, header, isProgrammatic = false, participant, failed, input = {}, words, ...mail }: MessageContext,
  type: 'conversation.created' | 'conversation.published',
  step: 'added' | 'published',
): TicketDecision {
  const reopens = (failed?.opens || message.direction === Direction.IN) && ticket.status !== TicketStatus.OPEN;
  const isLatest = participant === undefined || isParticipant(ticket, participant);
  const changed: TicketInput = {
    ...input,
    ...countMessage(ticket, message.direction),
    ...(message.private ? {} : changedTimes(ticket, message, now)),
    ...(isLatest ? changedLatestMessage(ticket, message, { ...mail, now }) : {}),
    ...(reopens ? { status: TicketStatus.OPEN } : {}),
  };
  const change = setFields(ticket, isProgrammatic ? {} : changed, now);
  const event = failed
    ? failedEvent(ticket, change, header, failed.conversationId)
    : conversationEvent(type, ticket, change, header, message);
  return { change: { ...change, event }, conversation: { [step]: message.id, words } };
}

function countMessage(ticket: TicketState, direction: Direction): TicketInput {
  if (direction === Direction.IN) return { incomingMessages: ticket.incomingMessages + 1 };
  if (direction === Direction.OUT) return { outgoingMessages: ticket.outgoingMessages + 1 };
  return { internalMessages: ticket.internalMessages + 1 };
}

/** The time of a message, at most `now`: a time in the future would keep later messages from being the last one. */
const messageTime = ({ createdAt }: ConversationState, now: number) => Math.min(createdAt ?? now, now);

const isLast = (ticket: TicketState, at: number) => at >= (ticket.lastMessageAt ?? at);

/** The times of a ticket that a message changes. An older message that is recorded later leaves them as they are. */
function changedTimes(ticket: TicketState, message: ConversationState, now: number): TicketInput {
  const at = messageTime(message, now);
  const { direction, agentId } = message;
  return {
    ...(direction === Direction.IN ? { lastCustomerMessageAt: Math.max(at, ticket.lastCustomerMessageAt ?? at) } : {}),
    ...(isLast(ticket, at) ? { lastMessageAt: at } : {}),
    ...(isLast(ticket, at) && direction === Direction.OUT ? { lastResponseAuthorId: agentId } : {}),
  };
}

/**
 * Sets the latest message, from which reply recipients are recommended and which the next mail answers, if it is the last
 * one and not internal.
 */
function changedLatestMessage(
  ticket: TicketState,
  message: ConversationState,
  { now, isMail, replyTo = [], thread = null }: Pick<MessageContext, 'now' | 'isMail' | 'replyTo' | 'thread'>,
): TicketInput {
  const { direction, from, to, cc, bcc, externalConversationId, deliveryStatus } = message;
  if (message.private || direction === Direction.INTERNAL || !isLast(ticket, messageTime(message, now))) return {};
  // Else nobody would be recommended after an answer to nobody.
  if (direction === Direction.OUT && isToNobody(message)) return {};
  const answersMail = deliveryStatus === DeliveryStatus.QUEUED && ticket.latestMessage?.isMail;
  const received = { ...(replyTo.length > 0 && { replyTo }), ...((isMail || answersMail) && { isMail: true }) };
  const latestMessage = { direction, from, to, cc, bcc, ...received };
  const { lastMail } = ticket;
  const continued = thread ?? mailThread(externalConversationId, lastMail ? referencesTo(lastMail) : []);
  return { latestMessage, ...(continued && { lastMail: continued }) };
}

/**
 * Whether an address takes part in the conversation of a ticket, as far as its fields say: it is in its first or its
 * latest message, or that of its customer. Case is ignored.
 */
export function isParticipant(ticket: AddressedTicket, address: string | null): boolean {
  const folded = foldedAddress(address ?? '');
  if (folded === '') return false;
  const messages = [ticket, ...(ticket.latestMessage ? [ticket.latestMessage] : [])];
  const addresses = messages.flatMap(({ from, to, cc, bcc, replyTo = [] }) => [from, ...to, ...cc, ...bcc, ...replyTo]);
  return [...addresses, ticket.customerEmail].some((one) => foldedAddress(one ?? '') === folded);
}
