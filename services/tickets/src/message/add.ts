import { ContentType, DeliveryStatus } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError, mayFollowChange, notFound } from '@ticketing/errors/domain-error.ts';
import { claimFiles } from '@ticketing/files/attach-files.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { CustomerDirectory } from '../customer/directory.ts';
import { hasSameCustomer, identifyByMessage } from '../customer/identify.ts';
import { eventHeaderFor } from '../event-header.ts';
import { maxReferences, referencesAmong, referencesTo } from '../rules/mail-thread.ts';
import type { ReadSettings } from '../settings.ts';
import type { TextWork } from '../text/work.ts';
import { type Commit, decideWrite } from '../ticket/commit.ts';
import type { WriteCall } from '../ticket/insert.ts';
import type { TicketDecision } from '../ticket/rules/decision.ts';
import type { TicketInput, TicketState } from '../ticket/rules/fields.ts';
import type { MessageWords } from '../ticket/rules/search-words.ts';
import type { FirstChange, StoredTicket } from '../ticket/store/document.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import { findKnownMessage } from './checks.ts';
import type { ExternalMessageIdStore, MailIdentity, MessageReference } from './external-id-store.ts';
import { decideAddedMessage, isParticipant, type MessageContext } from './rules/decision.ts';
import {
  type ConversationInput,
  type ConversationState,
  initialConversation,
  maxDrafts,
  maxMessages,
} from './rules/fields.ts';
import type { MailDocument } from './schema.ts';
import type { ConversationStore } from './store.ts';
import { discard, storeUnseen } from './unseen.ts';
import type { ShownConversation } from './views.ts';
import { messageWords } from './words.ts';

/** The fields of a new message. `modifiedAt` and the fields that are made of its text follow from the others. */
export type NewMessage = Partial<
  Omit<ConversationInput, 'bodyHtml' | 'bodyPlain' | 'bodyClean' | 'bodyRules' | 'modifiedAt'>
> &
  Pick<ConversationInput, 'direction' | 'type' | 'body'>;

/** A message that is part of a ticket. */
export interface AddedMessage extends MessageReference {
  /** Whether it was stored by this call; false for a message that was known, which lists other files. */
  isInserted: boolean;
  /** Whether the external id of the new message belongs to another mail, so that nothing was added. */
  isTaken?: boolean;
  /** Whether it has opened the ticket; undefined if it was part of it already. */
  hasOpened?: boolean | undefined;
  /** The message, if it was stored by this call. */
  shown?: ShownConversation | undefined;
}

interface MessageOptions
  extends Pick<MessageContext, 'isProgrammatic' | 'participant' | 'replyTo' | 'thread' | 'failed'> {
  /** The mail that the message was made of. */
  mail?: MailIdentity | undefined;
  /** Makes the raw mail that of the message, before it becomes part of the ticket. */
  assignRawMail?: undefined | ((own: MessageReference) => Promise<void>);
  /** The address of the person who wrote it, if it is not the sender. */
  author?: string | null;
  /** The ticket, as the caller has just read it. */
  read?: StoredTicket | undefined;
}

export interface MessageStores {
  conversations: ConversationStore;
  externalMessageIds: ExternalMessageIdStore;
  conversationIds: IdSequence;
}

export interface AddMessageDeps {
  messages: MessageStores;
  tickets: TicketStore;
  commit: Commit;
  attachments: FileContext;
  textWork: TextWork;
  customers: CustomerDirectory;
  settings: ReadSettings;
  /** Notified when a mail is queued. */
  mailQueue: { wake(): void };
  runtime: Runtime;
}

/** A message for a ticket that is not inserted yet, and the call that stores it. */
export interface PlannedMessage {
  call: WriteCall;
  plan(ticket: TicketState): Promise<NewMessage>;
}

/** A new ticket with messages that were added to it, and how each of them has changed it. */
export interface TicketWithMessages {
  stored: StoredTicket;
  changes: readonly FirstChange[];
}

/** Adds messages to tickets. */
export interface MessageWriter {
  /** Errors: those of `addMessage`. */
  add(call: WriteCall, ticketId: number, message: NewMessage, options?: MessageOptions): Promise<AddedMessage>;
  /** Errors: those of `addToNewTicket`. */
  addToNew(opened: StoredTicket, messages: readonly PlannedMessage[]): Promise<TicketWithMessages>;
  /** Errors: those of `addDraft`. */
  addDraft(call: WriteCall, ticketId: number, message: NewMessage): Promise<AddedMessage>;
  /**
   * Finds the message that the same request, if it has an idempotency key, has added in a process that died before it
   * responded.
   */
  findRepeated(call: WriteCall, ticketId: number): Promise<AddedMessage | undefined>;
  /** Finds the message that has an external id, if it is part of its ticket. */
  findKnown(externalId: string | null | undefined): Promise<MessageReference | undefined>;
}

export function messageWriter(deps: AddMessageDeps): MessageWriter {
  const { tickets, messages } = deps;
  return {
    add: (call, ticketId, message, options) => addMessage(deps, call, ticketId, message, options),
    addToNew: (opened, planned) => addToNewTicket(deps, opened, planned),
    addDraft: (call, ticketId, message) => addDraft(deps, call, ticketId, message),
    findRepeated: (call, ticketId) => findRepeated(deps, call, ticketId),
    findKnown: (externalId) => findKnownMessage({ ...messages, tickets }, externalId),
  };
}

/**
 * Adds a message to a ticket: one that was received, sent or is to be sent, or a note.
 *
 * The steps, and what is left if the process dies after one of them:
 * 1. Its files, and its raw mail, get the ticket as their owner: the sweeper of files removes them.
 * 2. The message is stored unseen, with its mail: no reader sees it, the mailer does not send it, and the sweeper of unseen
 *    messages removes it.
 * 3. Its external id is claimed: the sweeper frees it together with the message. In this order it finds the id by the
 *    message. A repeated request, or another process with the same external id, takes the message over.
 * 4. One update of the ticket makes the message part of it, with the event: everything is visible. The mailer finds the
 *    mail even if nothing wakes it.
 *
 * With an `externalConversationId` that is known, nothing is added, and the message that has it is returned, also if it
 * belongs to another ticket. With one that another mail has, nothing is added either. A caller that may get known ones
 * asks `findKnown` first, which costs less.
 * Errors: ticket_not_found, too_many_messages, concurrent_change; sandbox_busy and sandbox_crashed, for a long text.
 * Source: docs/reference/api.md, Conversations; docs/reference/architecture.md, Write.
 */
async function addMessage(
  deps: AddMessageDeps,
  call: WriteCall,
  ticketId: number,
  message: NewMessage,
  { read, mail: identity, assignRawMail, ...options }: MessageOptions = {},
): Promise<AddedMessage> {
  const id = await newConversationId(deps, call);
  const proposed = await newConversation(deps, call, message, { ticketId, id });
  const mail = await newMail(deps, proposed, read);
  const claimed = await storeUnseen(deps, proposed, { mail, identity, assignRawMail });
  if ('known' in claimed) return { ...claimed.known, isInserted: false, isTaken: claimed.isTaken };
  const { conversation, isInserted } = claimed;
  const identified = await identifyBy(deps, conversation, { ...options, read });
  let hasOpened: boolean | undefined;
  try {
    const words = await messageWords(deps.textWork, conversation, call.caller);
    const context = { ...options, isMail: identity !== undefined, identified, words };
    await deps.commit({
      ticketId,
      decide(stored) {
        const decision = decideMessage(deps, call, stored, { conversation, context });
        hasOpened = decision.change?.changed.includes('status');
        return decision;
      },
      requestId: call.idempotency?.id,
      read,
    });
  } catch (error) {
    if (isInserted && !mayFollowChange(error)) await discard(deps.messages, conversation.id);
    throw error;
  }
  if (conversation.deliveryStatus === DeliveryStatus.QUEUED) deps.mailQueue.wake();
  const shown = isInserted ? { conversation, isDraft: false } : undefined;
  return { ticketId, conversationId: conversation.id, isInserted, hasOpened, shown };
}

/** Decides how a message changes its ticket, unless that has it already. Errors: too_many_messages. */
function decideMessage(
  deps: AddMessageDeps,
  call: WriteCall,
  stored: StoredTicket,
  {
    conversation,
    context: { identified, ...context },
  }: {
    conversation: ConversationState;
    context: Omit<MessageContext, 'now' | 'header' | 'input'> & { identified(ticket: TicketState): TicketInput };
  },
): TicketDecision {
  // A repeated request, or one that took over the message of another process.
  if (stored.conversationIds.includes(conversation.id)) return {};
  // A full ticket gets the note of a failure too.
  if (!context.failed) requireRoom(stored);
  const input = identified(stored.ticket);
  const header = eventHeaderFor(deps, call);
  return decideAddedMessage(stored.ticket, conversation, { ...context, input, now: secondsNow(deps.runtime), header });
}

/**
 * Adds messages to a ticket that is still to be inserted, as `addMessage` would one after the other: they are stored
 * unseen, and the insertion of the ticket with the changes makes all of them part of it. One that is part of another ticket
 * is left out. If a message cannot be stored, it and those after it are left to `addMessage`.
 *
 * Errors: those that may follow a change of `addMessage`.
 */
async function addToNewTicket(
  deps: AddMessageDeps,
  opened: StoredTicket,
  messages: readonly PlannedMessage[],
): Promise<TicketWithMessages> {
  const prepared = await Promise.all(messages.map((message) => prepare(deps, opened.ticket, message)));
  const failed = prepared.indexOf(undefined);
  let stored = opened;
  const changes: FirstChange[] = [];
  for (const message of prepared.slice(0, failed === -1 ? undefined : failed)) {
    if (!message || message === 'known') continue;
    const { call, conversation, words } = message;
    const identified = await identifyBy(deps, conversation, { read: stored });
    const context = { isMail: false, identified, words };
    const { change, conversation: step } = await decideWrite(deps.settings, stored, (current) =>
      decideMessage(deps, call, current, { conversation, context }),
    );
    if (!change) continue;
    const at = new Date(secondsNow(deps.runtime) * 1000);
    changes.push({ change, conversation: step, appliedRequest: call.idempotency && { id: call.idempotency.id, at } });
    stored = { ...stored, ticket: change.after, conversationIds: [...stored.conversationIds, conversation.id] };
  }
  return { stored, changes };
}

/** Stores a message of a new ticket unseen. Undefined: it was refused; `known`: it is part of another ticket. */
async function prepare(
  deps: AddMessageDeps,
  ticket: TicketState,
  { call, plan }: PlannedMessage,
): Promise<{ call: WriteCall; conversation: ConversationState; words: MessageWords } | 'known' | undefined> {
  try {
    const id = await newConversationId(deps, call);
    const proposed = await newConversation(deps, call, await plan(ticket), { ticketId: ticket.id, id });
    const words = await messageWords(deps.textWork, proposed, call.caller);
    const claimed = await storeUnseen(deps, proposed, { mail: null });
    return 'known' in claimed ? 'known' : { call, conversation: claimed.conversation, words };
  } catch (error) {
    if (!(error instanceof DomainError) || mayFollowChange(error)) throw error;
    return undefined;
  }
}

/**
 * Adds a draft to a ticket. The ticket does not change by it, and no event is emitted.
 *
 * Errors: ticket_not_found, too_many_messages; sandbox_busy and sandbox_crashed, for a long text.
 */
async function addDraft(
  deps: AddMessageDeps,
  call: WriteCall,
  ticketId: number,
  message: NewMessage,
): Promise<AddedMessage> {
  const id = await newConversationId(deps, call);
  const conversation = await newConversation(deps, call, message, { ticketId, id });
  await claimFiles(deps.attachments, ticketId, conversation.attachments);
  const isInserted = await deps.messages.conversations.insert(conversation, null);
  if (!(await deps.tickets.addDraft(ticketId, id, maxDrafts))) {
    const messages = await deps.tickets.findMessages(ticketId);
    const isRepeated = messages?.draftIds.includes(id) || messages?.conversationIds.includes(id);
    if (!isRepeated) {
      if (isInserted) await discard(deps.messages, id);
      throw messages ? tooMany(`${maxDrafts} drafts`) : notFound('Ticket');
    }
  }
  const shown = isInserted ? { conversation, isDraft: true } : undefined;
  return { ticketId, conversationId: id, isInserted, shown };
}

async function findRepeated(
  deps: AddMessageDeps,
  call: WriteCall,
  ticketId: number,
): Promise<AddedMessage | undefined> {
  if (!call.idempotency) return undefined;
  const conversationId = await newConversationId(deps, call);
  const messages = await deps.tickets.findMessages(ticketId);
  const isPart = messages?.conversationIds.includes(conversationId) || messages?.draftIds.includes(conversationId);
  return isPart ? { ticketId, conversationId, isInserted: false } : undefined;
}

/**
 * The stored state of the sending of a message, which is due at once; null if it is not to be sent. It answers the last
 * mail of its ticket. `read` is the ticket, as the caller has just read it; by default it is read here.
 */
export async function newMail(
  deps: { messages: Pick<MessageStores, 'externalMessageIds'>; tickets: Pick<TicketStore, 'find'> },
  { id, ticketId, deliveryStatus }: ConversationState,
  read?: Pick<StoredTicket, 'ticket'>,
): Promise<MailDocument | null> {
  if (deliveryStatus !== DeliveryStatus.QUEUED) return null;
  const lastMail = (read ?? (await deps.tickets.find(ticketId)))?.ticket.lastMail;
  const references = lastMail
    ? referencesTo(lastMail)
    : await knownIds(deps.messages, { ticketId, conversationId: id });
  return { attempts: 0, nextAttemptAt: new Date(0), references, reached: [], lastError: null };
}

/**
 * The ids of the other mails of a ticket: all that is known of those of earlier versions. One that this version has
 * received without giving the ticket a thread is of a program.
 */
async function knownIds(
  { externalMessageIds }: Pick<MessageStores, 'externalMessageIds'>,
  { ticketId, conversationId }: MessageReference,
): Promise<string[]> {
  const known = await externalMessageIds.ofTicket(ticketId, maxReferences);
  const others = known.filter((one) => one.conversationId !== conversationId);
  return referencesAmong(others.map(({ externalId }) => externalId));
}

/** The texts that are made of the body of a message. */
export function messageTexts(
  textWork: TextWork,
  call: WriteCall,
  { body, type }: Pick<ConversationInput, 'body' | 'type'>,
) {
  return textWork.bodyFields(body, call.caller, type === ContentType.TEXT);
}

function newConversationId({ messages }: AddMessageDeps, { idempotency }: WriteCall): Promise<number> {
  const next = () => messages.conversationIds.next();
  return idempotency ? idempotency.reserve('conversation', next) : next();
}

async function newConversation(
  deps: AddMessageDeps,
  call: WriteCall,
  message: NewMessage,
  ids: Pick<ConversationState, 'id' | 'ticketId'>,
): Promise<ConversationState> {
  const texts = await messageTexts(deps.textWork, call, message);
  const now = secondsNow(deps.runtime);
  return { ...initialConversation, createdAt: now, ...message, ...texts, modifiedAt: now, ...ids };
}

/**
 * Identifies the customer of a ticket by an incoming message. Returns a function from the ticket, as it is when the
 * message is added, to the fields to set: none if its customer was changed meanwhile. A stranger does not become the
 * customer of a ticket without one, because the stranger would then be a participant.
 */
async function identifyBy(
  deps: AddMessageDeps,
  { ticketId, direction, from: sender, fromName, to, subject, bodyPlain: text }: ConversationState,
  { participant, isProgrammatic, author, read }: MessageOptions,
): Promise<(ticket: TicketState) => TicketInput> {
  if (direction !== Direction.IN || isProgrammatic) return () => ({});
  const from = author ?? sender;
  const before = (read ?? (await deps.tickets.find(ticketId)))?.ticket;
  if (!before) return () => ({});
  const hasCustomer = before.customerId !== null || before.contractId !== null;
  if (participant !== undefined && !hasCustomer && !isParticipant(before, participant)) return () => ({});
  const { input } = await identifyByMessage(deps, before, { direction, from, fromName, to, subject, text });
  return (ticket) => (hasSameCustomer(ticket, before) ? input : {});
}

/** Refuses a further message of a ticket that has too many. Errors: too_many_messages. */
export function requireRoom({ conversationIds }: Pick<StoredTicket, 'conversationIds'>): void {
  if (conversationIds.length >= maxMessages) throw tooMany(`${maxMessages} messages`);
}

function tooMany(what: string): DomainError {
  return new DomainError('failed_precondition', 'too_many_messages', `The ticket has ${what}, which is the most.`);
}
