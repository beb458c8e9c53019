import { ContentType, DeliveryStatus } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError, mayFollowChange, notFound } from '@ticketing/errors/domain-error.ts';
import { claimFiles } from '@ticketing/files/attach-files.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { hasSameCustomer, identifyByMessage } from '../customer/identify.ts';
import { eventHeaderOf } from '../ticket/event-header.ts';
import type { TicketInput, TicketState } from '../ticket/rules/fields.ts';
import type { StoredTicket } from '../ticket/store/stored-ticket.ts';
import { writeTicket } from '../ticket/write.ts';
import type { MessageReference } from './external-id-store.ts';
import { isPartOfTicket } from './find-known.ts';
import { decideAddedMessage, type MessageContext } from './rules/decision.ts';
import {
  type ConversationInput,
  type ConversationState,
  initialConversation,
  maxDrafts,
  maxMessages,
} from './rules/fields.ts';
import { maxReferences, referencesAmong } from './rules/outgoing-mail.ts';
import { isParticipant } from './rules/participants.ts';
import type { MailDocument } from './schema.ts';
import type { ShownConversation } from './to-proto.ts';

/** The caller that adds a message, and its request. */
export type MessageCall = Pick<Call, 'caller' | 'trace'> & Partial<Pick<Call, 'idempotency'>>;

/** The fields of a new message. `modifiedAt` and the fields that are made of its text follow from the others. */
export type NewMessage = Partial<
  Omit<ConversationInput, 'bodyHtml' | 'bodyPlain' | 'bodyClean' | 'bodyRules' | 'modifiedAt'>
> &
  Pick<ConversationInput, 'direction' | 'type' | 'body'>;

/** A message that is part of a ticket. */
export interface AddedMessage extends MessageReference {
  /** Whether it was stored by this call; false for a message that was known, which lists other files. */
  isInserted: boolean;
  /** The message, if it was stored by this call. */
  shown?: ShownConversation | undefined;
}

/** Options of a new message. */
export interface MessageOptions extends Pick<MessageContext, 'isProgrammatic' | 'onlyParticipants'> {
  /** The ticket, as the caller has just read it. */
  read?: StoredTicket | undefined;
}

/**
 * Adds a message to a ticket: one that was received, sent or is to be sent, or a note. It is stored first, and becomes part
 * of the ticket by the one write of the ticket that has the event too.
 *
 * With an `externalConversationId` that is known, nothing is added, and the message that has it is returned, also if it
 * belongs to another ticket. A caller that may get known ones asks `findKnownMessage` first, which costs less.
 * Errors: ticket_not_found, too_many_messages, concurrent_change; sandbox_busy and sandbox_crashed, for a long text.
 * Source: docs/reference/api.md, Conversations; docs/reference/architecture.md, Write.
 */
export async function addMessage(
  context: Context,
  call: MessageCall,
  ticketId: number,
  message: NewMessage,
  { read, ...options }: MessageOptions = {},
): Promise<AddedMessage> {
  const id = await newConversationId(context, call);
  const claimed = await insertMessage(context, await newConversation(context, call, message, { ticketId, id }));
  if ('known' in claimed) return { ...claimed.known, isInserted: false };
  const { conversation, isInserted } = claimed;
  const identified = await identifyBy(context, conversation, { ...options, read });
  const decide = (stored: StoredTicket) => {
    // A repeated request, or one that took over the message of another process.
    if (stored.conversationIds.includes(conversation.id)) return {};
    requireRoom(stored);
    const header = eventHeaderOf(context, call);
    const input = identified(stored.ticket);
    return decideAddedMessage(stored.ticket, conversation, { ...options, input, now: context.now(), header });
  };
  try {
    await writeTicket(context, ticketId, decide, { requestId: call.idempotency?.id, read });
  } catch (error) {
    if (isInserted && !mayFollowChange(error)) await discard(context, conversation.id);
    throw error;
  }
  if (conversation.deliveryStatus === DeliveryStatus.QUEUED) context.mailer?.wake();
  const shown = isInserted ? { conversation, isDraft: false } : undefined;
  return { ticketId, conversationId: conversation.id, isInserted, shown };
}

/**
 * Adds a draft to a ticket. The ticket does not change by it, and no event is emitted.
 *
 * Errors: ticket_not_found, too_many_messages; sandbox_busy and sandbox_crashed, for a long text.
 */
export async function addDraft(
  context: Context,
  call: MessageCall,
  ticketId: number,
  message: NewMessage,
): Promise<AddedMessage> {
  const id = await newConversationId(context, call);
  const conversation = await newConversation(context, call, message, { ticketId, id });
  await claimFiles(context, ticketId, conversation.attachments);
  const isInserted = await context.conversations.insert(conversation, null);
  if (!(await context.tickets.addDraft(ticketId, id))) {
    const messages = await context.tickets.findMessages(ticketId);
    const isRepeated = messages?.draftIds.includes(id) || messages?.conversationIds.includes(id);
    if (!isRepeated) {
      if (isInserted) await discard(context, id);
      throw messages ? tooMany(`${maxDrafts} drafts`) : notFound('Ticket');
    }
  }
  const shown = isInserted ? { conversation, isDraft: true } : undefined;
  return { ticketId, conversationId: id, isInserted, shown };
}

/**
 * Finds the message that the same request, if it has an idempotency key, has added in a process that died before it
 * responded.
 */
export async function findRepeated(
  context: Context,
  call: MessageCall,
  ticketId: number,
): Promise<AddedMessage | undefined> {
  if (!call.idempotency) return undefined;
  const conversationId = await newConversationId(context, call);
  const messages = await context.tickets.findMessages(ticketId);
  const isPart = messages?.conversationIds.includes(conversationId) || messages?.draftIds.includes(conversationId);
  return isPart ? { ticketId, conversationId, isInserted: false } : undefined;
}

/** The stored state of the sending of a message, which is due at once; null if it is not to be sent. */
export async function mailOf(
  { externalMessageIds }: Pick<Context, 'externalMessageIds'>,
  { id, ticketId, deliveryStatus }: ConversationState,
): Promise<MailDocument | null> {
  if (deliveryStatus !== DeliveryStatus.QUEUED) return null;
  const known = await externalMessageIds.ofTicket(ticketId, maxReferences);
  const earlier = known.filter(({ conversationId }) => conversationId !== id);
  const references = referencesAmong(earlier.map(({ externalId }) => externalId));
  return { attempts: 0, nextAttemptAt: new Date(0), references, reached: [], lastError: null };
}

/** The texts that are made of the body of a message. */
export function messageTexts(
  context: Context,
  call: MessageCall,
  { body, type }: Pick<ConversationInput, 'body' | 'type'>,
) {
  return context.textWork.bodyFields(body, call.caller, type === ContentType.TEXT);
}

function newConversationId(context: Context, { idempotency }: MessageCall): Promise<number> {
  const next = () => context.conversationIds.next();
  return idempotency ? idempotency.reserve('conversation', next) : next();
}

async function newConversation(
  context: Context,
  call: MessageCall,
  message: NewMessage,
  ids: Pick<ConversationState, 'id' | 'ticketId'>,
): Promise<ConversationState> {
  const texts = await messageTexts(context, call, message);
  const now = context.now();
  return { ...initialConversation, createdAt: now, ...message, ...texts, modifiedAt: now, ...ids };
}

/** A message that is stored and has its external id, or the one that is known by that id. */
type Claimed = { conversation: ConversationState; isInserted: boolean } | { known: MessageReference };

/**
 * Stores a message, and then claims its external id. In this order the sweeper, which finds the message that a dead process
 * has left, finds the external id by it.
 */
async function insertMessage(context: Context, proposed: ConversationState): Promise<Claimed> {
  await claimFiles(context, proposed.ticketId, proposed.attachments);
  const { conversation, isInserted } = await insertOnce(context, proposed);
  const { id, ticketId, externalConversationId } = conversation;
  if (externalConversationId === null) return { conversation, isInserted };
  const own = { ticketId, conversationId: id };
  for (;;) {
    const claimed = await context.externalMessageIds.claim(externalConversationId, own);
    if (claimed.conversationId === id) return { conversation, isInserted };
    const isKnown = await isPartOfTicket(context, claimed);
    // The claim belongs to a process that died before its message was part of the ticket, or that is about to add it.
    // This process uses the id of that message, so that it is added once, whichever process is first.
    if (isKnown || claimed.ticketId === ticketId) {
      if (isInserted) await context.conversations.remove(id);
      if (isKnown) return { known: claimed };
      return insertMessage(context, { ...conversation, id: claimed.conversationId });
    }
    if (await context.externalMessageIds.replace(externalConversationId, claimed, own)) {
      return { conversation, isInserted };
    }
  }
}

/**
 * Inserts a message. A taken id belongs to a repeated request, or to a process that died: then the message that was
 * stored first applies, because it may be sent already. It counts as unseen from now on, so that the sweeper does not
 * remove it.
 */
async function insertOnce(
  context: Context,
  proposed: ConversationState,
): Promise<{ conversation: ConversationState; isInserted: boolean }> {
  for (;;) {
    const isInserted = await context.conversations.insert(proposed, await mailOf(context, proposed));
    if (isInserted) return { conversation: proposed, isInserted };
    const isKept = await context.conversations.setUnseen(proposed.id);
    const stored = isKept ? await context.conversations.find(proposed.id) : undefined;
    if (stored) return { conversation: stored.conversation, isInserted };
    // The sweeper has removed it between the operations.
  }
}

/**
 * Identifies the customer of a ticket by an incoming message. Returns a function from the ticket, as it is when the
 * message is added, to the fields to set: none if its customer was changed meanwhile. A stranger does not become the
 * customer of a ticket without one, because the stranger would then be a participant.
 */
async function identifyBy(
  context: Context,
  { ticketId, direction, from, fromName, to, subject, bodyPlain: text }: ConversationState,
  { onlyParticipants = false, read }: MessageOptions,
): Promise<(ticket: TicketState) => TicketInput> {
  if (direction !== Direction.IN) return () => ({});
  const before = (read ?? (await context.tickets.find(ticketId)))?.ticket;
  if (!before) return () => ({});
  const hasCustomer = before.customerId !== null || before.contractId !== null;
  if (onlyParticipants && !hasCustomer && !isParticipant(before, from)) return () => ({});
  const { input } = await identifyByMessage(context, before, { direction, from, fromName, to, subject, text });
  return (ticket) => (hasSameCustomer(ticket, before) ? input : {});
}

/** Refuses a further message of a ticket that has too many. Errors: too_many_messages. */
export function requireRoom({ conversationIds }: Pick<StoredTicket, 'conversationIds'>): void {
  if (conversationIds.length >= maxMessages) throw tooMany(`${maxMessages} messages`);
}

function tooMany(what: string): DomainError {
  return new DomainError('failed_precondition', 'too_many_messages', `The ticket has ${what}, which is the most.`);
}

async function discard(context: Context, id: number): Promise<void> {
  await context.externalMessageIds.freeMessage(id);
  await context.conversations.remove(id);
}
