import { ContentType, DeliveryStatus } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError, mayFollowChange, notFound } from '@ticketing/errors/domain-error.ts';
import { claimFiles } from '@ticketing/files/attach-files.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import { conflict, retryOnConflict } from '@ticketing/store/document/retry-on-conflict.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { CustomerDirectory } from '../customer/directory.ts';
import { hasSameCustomer, identifyByMessage } from '../customer/identify.ts';
import { eventHeaderFor } from '../event-header.ts';
import { maxReferences, referencesAmong, referencesTo } from '../rules/mail-thread.ts';
import type { TextWork } from '../text/work.ts';
import type { Commit } from '../ticket/commit.ts';
import type { WriteCall } from '../ticket/insert.ts';
import type { TicketInput, TicketState } from '../ticket/rules/fields.ts';
import type { StoredTicket } from '../ticket/store/document.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import { findKnownMessage, isPartOfTicket } from './checks.ts';
import {
  type ExternalMessageIdStore,
  isSameMail,
  type MailIdentity,
  type MessageReference,
} from './external-id-store.ts';
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
  /** Notified when a mail is queued. */
  mailQueue: { wake(): void };
  runtime: Runtime;
}

/** Adds messages to tickets. */
export interface MessageWriter {
  /** Errors: those of `addMessage`. */
  add(call: WriteCall, ticketId: number, message: NewMessage, options?: MessageOptions): Promise<AddedMessage>;
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
  const claimed = await storeMessage(deps, proposed, { mail, identity, assignRawMail });
  if ('known' in claimed) return { ...claimed.known, isInserted: false, isTaken: claimed.isTaken };
  const { conversation, isInserted } = claimed;
  const identified = await identifyBy(deps, conversation, { ...options, read });
  let hasOpened: boolean | undefined;
  try {
    const words = await messageWords(deps.textWork, conversation, call.caller);
    await deps.commit({
      ticketId,
      decide(stored) {
        // A repeated request, or one that took over the message of another process.
        if (stored.conversationIds.includes(conversation.id)) return {};
        // A full ticket gets the note of a failure too.
        if (!options.failed) requireRoom(stored);
        const header = eventHeaderFor(deps, call);
        const input = identified(stored.ticket);
        const isMail = identity !== undefined;
        const context = { ...options, isMail, input, words, now: secondsNow(deps.runtime), header };
        const decision = decideAddedMessage(stored.ticket, conversation, context);
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

/** A message that is stored and has its external id, or the one that is known by that id. */
type Claimed = { conversation: ConversationState; isInserted: boolean } | { known: MessageReference; isTaken: boolean };

/** Stores a message unseen, and then claims its external id. `mail` is its sending, `identity` the mail that it is made of. */
async function storeMessage(
  deps: AddMessageDeps,
  proposed: ConversationState,
  parts: { mail: MailDocument | null; identity: MailIdentity | undefined } & Pick<MessageOptions, 'assignRawMail'>,
): Promise<Claimed> {
  const { messages, attachments } = deps;
  const { id: conversationId, ticketId } = proposed;
  await claimFiles(attachments, ticketId, proposed.attachments);
  await parts.assignRawMail?.({ ticketId, conversationId });
  const { conversation, isInserted } = await insertUnseen(deps, proposed, parts.mail);
  if (conversation.externalConversationId === null) return { conversation, isInserted };
  const { owner, isKnown, isTaken } = await claimExternalId(
    deps,
    conversation.externalConversationId,
    conversation,
    parts.identity,
  );
  if (owner.conversationId === conversation.id) return { conversation, isInserted };
  if (isInserted) await messages.conversations.remove(conversation.id);
  if (isKnown || isTaken) return { known: owner, isTaken };
  // The claim belongs to a process that died before its message was part of the ticket, or that is about to add it.
  // This process uses the id of that message, so that it is added once, whichever process is first.
  return storeMessage(deps, { ...conversation, id: owner.conversationId }, parts);
}

/**
 * Claims an external id for a message. Returns the message that has it, and whether that is part of its ticket: another
 * message keeps it if it is, or if it belongs to the same ticket or to another mail.
 */
function claimExternalId(
  { messages: { externalMessageIds }, tickets, runtime }: AddMessageDeps,
  externalId: string,
  { id: conversationId, ticketId }: ConversationState,
  mail: MailIdentity | undefined,
): Promise<{ owner: MessageReference; isKnown: boolean; isTaken: boolean }> {
  const own = { ticketId, conversationId };
  return retryOnConflict(runtime, 'The message is being changed too often.', async () => {
    const { mail: claimedFor, ...claimed } = await externalMessageIds.claim(externalId, { ...own, mail });
    if (claimed.conversationId === conversationId) return { owner: own, isKnown: false, isTaken: false };
    const isTaken = mail !== undefined && isSameMail({ ...claimed, mail: claimedFor }, mail, ticketId) === false;
    const isKnown = !isTaken && (await isPartOfTicket({ tickets }, claimed));
    if (isTaken || isKnown || claimed.ticketId === ticketId) return { owner: claimed, isKnown, isTaken };
    const isReplaced = await externalMessageIds.replace(externalId, claimed, { ...own, mail });
    return isReplaced ? { owner: own, isKnown: false, isTaken: false } : conflict;
  });
}

/**
 * Inserts a message. A taken id belongs to a repeated request, or to a process that died: then the message that was
 * stored first applies, because it may be sent already. It counts as unseen from now on, so that the sweeper does not
 * remove it.
 */
function insertUnseen(
  { messages, runtime }: AddMessageDeps,
  proposed: ConversationState,
  mail: MailDocument | null,
): Promise<{ conversation: ConversationState; isInserted: boolean }> {
  const { conversations } = messages;
  return retryOnConflict(runtime, 'The message is being changed too often.', async () => {
    const isInserted = await conversations.insert(proposed, mail);
    if (isInserted) return { conversation: proposed, isInserted };
    const isKept = await conversations.setUnseen(proposed.id);
    const stored = isKept ? await conversations.find(proposed.id) : undefined;
    // If there is none, the sweeper has removed it between the operations.
    return stored ? { conversation: stored.conversation, isInserted } : conflict;
  });
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

async function discard({ conversations, externalMessageIds }: MessageStores, id: number): Promise<void> {
  await externalMessageIds.freeMessage(id);
  await conversations.remove(id);
}
