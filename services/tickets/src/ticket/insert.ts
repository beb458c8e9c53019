import { claimFiles } from '@ticketing/files/attach-files.ts';
import type { FileContext } from '@ticketing/files/file-context.ts';
import { type Runtime, secondsNow } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { CustomerDirectory } from '../customer/directory.ts';
import { firstMessage, identify } from '../customer/identify.ts';
import { eventHeaderFor } from '../event-header.ts';
import type { CheckDeps } from './checks.ts';
import { readSlaRules } from './patch.ts';
import { type NewTicketContext, newTicket } from './rules/change.ts';
import { createdEvent } from './rules/event.ts';
import type { TicketInput, TicketState } from './rules/fields.ts';
import { type ProgramRules, withHeaderRule } from './rules/spam.ts';
import { programRules } from './rules/subchannels.ts';
import { type FirstChange, newStoredTicket, type StoredTicket } from './store/document.ts';
import type { TicketStore } from './store/store.ts';

/** The caller that writes, and its request. */
export type WriteCall = Pick<Call, 'caller' | 'trace'> & Partial<Pick<Call, 'idempotency'>>;

/** Everything from which a new ticket follows. */
export interface TicketDraft {
  input: TicketInput;
  context: NewTicketContext;
  programs: ProgramRules;
  /** The fields of its customer. */
  identified: TicketInput;
}

interface DraftDeps extends CheckDeps {
  customers: CustomerDirectory;
  conversationIds: IdSequence;
  runtime: Runtime;
}

/**
 * Reads all that a new ticket depends on: settings, tags, its customer, and an id for its first message if it has a body.
 * Nothing is written.
 */
export async function draftTicket(
  deps: DraftDeps,
  { caller }: Pick<Call, 'caller'>,
  input: TicketInput,
  ids: { id: number; openingMessageId?: number },
): Promise<TicketDraft> {
  const settings = await deps.settings();
  const { lastAgentRouting } = settings;
  const sla = await readSlaRules(deps, input.tagIds !== undefined);
  const creator = { profileId: caller.profileId, isHuman: isHuman(caller) };
  const hasBody = (input.body ?? null) !== null;
  const openingMessageId = hasBody ? (ids.openingMessageId ?? (await deps.conversationIds.next())) : null;
  const context = { id: ids.id, openingMessageId, now: secondsNow(deps.runtime), creator, lastAgentRouting, sla };
  const draft: TicketDraft = { input, context, programs: programRules(settings), identified: {} };
  const ticket = decideTicket(draft);
  const { input: identified } = await identify(deps, ticket, firstMessage(ticket), { mode: 'cached' });
  return { ...draft, identified };
}

/** Decides how a ticket begins. `text` replaces the text of the draft. */
export function decideTicket({ input, context, programs, identified }: TicketDraft, text?: TicketInput): TicketState {
  return { ...newTicket(withHeaderRule({ ...input, ...text }, programs), context), ...identified };
}

/** The beginning of a ticket. */
export interface Opening {
  /** Its first message, if that is stored apart as a mail. */
  conversationId?: number;
  /** The ticket, with that mail as its last one, or with the reason why it is not sent. */
  ticket: TicketState;
}

/** How a ticket is inserted. */
export interface InsertOptions {
  /** Whether its first message is sent as a mail, if its direction is out. */
  sendsMessage?: boolean;
  /** Adds messages to it before it is inserted; returns it with them, and how each of them has changed it. */
  addMessages?: AddMessages | undefined;
  /** Whether it is one of several that come from elsewhere. */
  isImport?: boolean | undefined;
}

/** Adds messages to a ticket that is still to be inserted. */
export type AddMessages = (opened: StoredTicket) => Promise<{ stored: StoredTicket; changes: readonly FirstChange[] }>;

interface InsertDeps {
  tickets: Pick<TicketStore, 'find' | 'insert'>;
  attachments: Pick<FileContext, 'files'>;
  /** Stores the first message of a ticket, unseen, if it is sent as a mail. */
  openMail(call: WriteCall, ticket: TicketState): Promise<Opening>;
  /** Removes the messages that were stored for a ticket. */
  discardMessages(ticketId: number): Promise<void>;
  /** Notified when a mail is queued. */
  mailQueue: { wake(): void };
  runtime: Runtime;
}

/**
 * Inserts a ticket. Returns undefined if its id is taken.
 *
 * The steps, and what is left if the process dies after one of them:
 * 1. The files get the ticket as their owner: the sweeper of files removes them.
 * 2. The first message is stored unseen, with its `Message-ID`, and then the other ones: the sweeper of unseen messages
 *    removes them.
 * 3. The ticket is inserted with its events: everything is visible. The mailer finds the mail even if nothing wakes it.
 */
export async function insertTicket(
  deps: InsertDeps,
  call: WriteCall,
  decided: TicketState,
  { sendsMessage = false, addMessages, isImport = false }: InsertOptions = {},
): Promise<StoredTicket | undefined> {
  const appliedRequest = call.idempotency && {
    id: call.idempotency.id,
    at: new Date(secondsNow(deps.runtime) * 1000),
  };
  const event = createdEvent(decided, eventHeaderFor(deps, call), isImport ? 'import' : 'request');
  await claimFiles(deps.attachments, decided.id, decided.attachments);
  const { conversationId, ticket }: Opening = sendsMessage ? await deps.openMail(call, decided) : { ticket: decided };
  const conversationIds = conversationId === undefined ? [] : [conversationId];
  const opened = { ...newStoredTicket(ticket), conversationIds };
  const { stored, changes } = addMessages ? await addMessages(opened) : { stored: opened, changes: [] };
  const parts = { event, appliedRequest, conversationIds: [...conversationIds], changes };
  if (!(await deps.tickets.insert(stored.ticket, parts))) {
    if (addMessages && !(await deps.tickets.find(decided.id))) await deps.discardMessages(decided.id);
    return undefined;
  }
  if (conversationIds.length > 0) deps.mailQueue.wake();
  return stored;
}
