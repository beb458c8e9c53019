import { notFound } from '@ticketing/errors/domain-error.ts';
import { claimFiles } from '@ticketing/files/attach-files.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { Context } from '../context.ts';
import { firstMessageOf, identify } from '../customer/identify.ts';
import { storeOpeningMail } from '../message/opening-mail.ts';
import { eventHeaderOf } from './event-header.ts';
import { readSlaRules } from './read-sla.ts';
import { createdEvent } from './rules/event.ts';
import type { TicketInput, TicketState } from './rules/fields.ts';
import { newTicket } from './rules/new-ticket.ts';
import { withHeaderRule } from './rules/programmatic.ts';
import { newStoredTicket, type StoredTicket } from './store/stored-ticket.ts';

/**
 * Makes the text of a new ticket, or of one that is updated, from the ticket as the request leaves it apart from the text.
 * It is called before anything is written; a second time only if another request has created the ticket meanwhile, or
 * if the id of the ticket was made void.
 */
export type WriteText = (stored: StoredTicket) => Promise<TicketInput>;

/** How often a ticket may get another id because the first one was made void meanwhile, which takes minutes each time. */
const maxIds = 3;

/**
 * Inserts a ticket with a new id. A repeated request with an idempotency key gets the ticket that it has already
 * inserted.
 *
 * Errors: ticket_not_found, if that ticket was deleted; those of `writeText`, which leave nothing behind.
 */
export async function insertTicket(
  context: Context,
  call: Call,
  input: TicketInput,
  writeText?: WriteText,
): Promise<StoredTicket> {
  for (let nth = 1; nth <= maxIds; nth++) {
    const next = () => context.ticketIds.next();
    // Every repetition of the request comes to the same ids in the same order.
    const id = await (call.idempotency
      ? call.idempotency.reserve(nth === 1 ? 'ticket' : `ticket${nth}`, next)
      : next());
    const stored = await insertOnce(context, call, input, id, writeText);
    if (stored) return stored;
  }
  throw new Error('new ids were made void again and again');
}

/** Returns undefined if the id has been made void. */
async function insertOnce(
  context: Context,
  call: Call,
  input: TicketInput,
  id: number,
  writeText: WriteText | undefined,
): Promise<StoredTicket | undefined> {
  // The same request has inserted it in a process that died before it responded.
  const insertedBefore = () => (call.idempotency ? context.tickets.find(id) : undefined);
  const repeated = writeText && (await insertedBefore());
  if (repeated) return repeated;
  const ticket = await prepareTicket(context, call, input, { id }, writeText);
  const stored = (await storeTicket(context, call, ticket)) ?? (await insertedBefore());
  if (stored || (await context.closedIds.isVoid(id))) return stored;
  throw call.idempotency ? notFound('Ticket') : new Error('a new id was taken');
}

/** The caller that inserts a ticket, and its request. */
export type InsertCall = Pick<Call, 'caller' | 'trace' | 'idempotency'>;

/** Makes a new ticket, with an id for its first message if it has a body. Nothing is written. */
export async function prepareTicket(
  context: Context,
  { caller }: Pick<Call, 'caller'>,
  input: TicketInput,
  ids: { id: number; openingMessageId?: number },
  writeText?: WriteText,
): Promise<TicketState> {
  const { lastAgentRouting, headerRules } = await context.settings();
  const sla = await readSlaRules(context, input.tagIds !== undefined);
  const creator = { profileId: caller.profileId, isHuman: isHuman(caller) };
  const hasBody = writeText !== undefined || (input.body ?? null) !== null;
  const openingId = hasBody ? (ids.openingMessageId ?? (await context.conversationIds.next())) : undefined;
  const given = { id: ids.id, ...(openingId === undefined ? {} : { openingMessageId: openingId }) };
  const options = { ...given, now: context.now(), creator, lastAgentRouting, sla };
  const make = (fields: TicketInput) => newTicket(withHeaderRule(fields, headerRules), options);
  // A body that is still to be written counts as a message already.
  const made = make(writeText ? { ...input, body: '' } : input);
  const { input: identified } = await identify(context, made, firstMessageOf(made), { mode: 'cached' });
  if (!writeText) return { ...made, ...identified };
  const text = await writeText(newStoredTicket({ ...made, ...identified, body: null }));
  return { ...make({ ...input, ...text }), ...identified };
}

/** Inserts a ticket, and its first message if it has a body. Returns undefined if its id is taken. */
export async function storeTicket(
  context: Context,
  call: InsertCall,
  ticket: TicketState,
): Promise<StoredTicket | undefined> {
  const appliedRequest = call.idempotency && { id: call.idempotency.id, at: new Date(context.now() * 1000) };
  await claimFiles(context, ticket.id, ticket.attachments);
  const event = createdEvent(ticket, eventHeaderOf(context, call));
  const conversationIds = await storeOpeningMail(context, call, ticket);
  if (!(await context.tickets.insert(ticket, { event, appliedRequest, conversationIds }))) return undefined;
  if (conversationIds.length > 0) context.mailer?.wake();
  return { ...newStoredTicket(ticket), conversationIds };
}
