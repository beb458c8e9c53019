import { notFound } from '@ticketing/errors/domain-error.ts';
import { isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { newTicket } from '../domain/new-ticket.ts';
import { withHeaderRule } from '../domain/programmatic.ts';
import { createdEvent } from '../domain/ticket-event.ts';
import type { TicketInput } from '../domain/ticket-fields.ts';
import { newStoredTicket, type StoredTicket } from '../store/stored-ticket.ts';
import { claimFiles } from './attach-files.ts';
import type { Context } from './context.ts';
import { eventHeaderOf } from './event-header.ts';
import { firstMessageOf, identify } from './legitimate.ts';
import { storeOpeningMail } from './opening-mail.ts';
import { readSlaRules } from './sla-rules.ts';

/**
 * Inserts a ticket with a new id. A repeated request with an idempotency key gets the ticket that it has already
 * inserted.
 *
 * Errors: ticket_not_found, if that ticket was deleted.
 */
export async function insertTicket(context: Context, call: Call, input: TicketInput): Promise<StoredTicket> {
  const next = () => context.ticketIds.next();
  const id = await (call.idempotency ? call.idempotency.reserve('ticket', next) : next());
  const inserted = await insertWithId(context, call, input, id);
  if (inserted) return inserted;
  // The same request has inserted it in a process that died before it responded.
  const stored = call.idempotency && (await context.tickets.find(id));
  if (!stored) throw call.idempotency ? notFound('Ticket') : new Error('a new id was taken');
  return stored;
}

/** Who inserts a ticket, and by which request. */
export type InsertCall = Pick<Call, 'caller' | 'trace' | 'idempotency'>;

/** Inserts a ticket with an id, and its first message, if it has a body. Returns undefined if the id is taken. */
export async function insertWithId(
  context: Context,
  call: InsertCall,
  input: TicketInput,
  id: number,
  openingMessageId?: number,
): Promise<StoredTicket | undefined> {
  const { lastAgentRouting, headerRules } = await context.settings();
  const sla = await readSlaRules(context, input.tagIds !== undefined);
  const creator = { profileId: call.caller.profileId, isHuman: isHuman(call.caller) };
  const hasBody = (input.body ?? null) !== null;
  const openingId = hasBody ? (openingMessageId ?? (await context.conversationIds.next())) : undefined;
  const ids = { id, ...(openingId === undefined ? {} : { openingMessageId: openingId }) };
  const given = newTicket(withHeaderRule(input, headerRules), {
    ...ids,
    now: context.now(),
    creator,
    lastAgentRouting,
    sla,
  });
  const identified = await identify(context, given, firstMessageOf(given), { mode: 'cached' });
  const ticket = { ...given, ...identified.input };
  const appliedRequest = call.idempotency && { id: call.idempotency.id, at: new Date(context.now() * 1000) };
  await claimFiles(context, id, ticket.attachments);
  const event = createdEvent(ticket, eventHeaderOf(context, call));
  const conversationIds = await storeOpeningMail(context, call, ticket);
  if (!(await context.tickets.insert(ticket, { event, appliedRequest, conversationIds }))) return undefined;
  if (conversationIds.length > 0) context.mailer?.wake();
  return { ...newStoredTicket(ticket), conversationIds };
}
