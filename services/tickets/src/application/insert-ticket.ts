import { notFound } from '@ticketing/errors/domain-error.ts';
import { isHuman } from '@ticketing/service-kit/identity/caller.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { newTicket } from '../domain/new-ticket.ts';
import { createdEvent } from '../domain/ticket-event.ts';
import type { TicketInput } from '../domain/ticket-fields.ts';
import { newStoredTicket, type StoredTicket } from '../store/stored-ticket.ts';
import type { Context } from './context.ts';
import { eventHeaderOf } from './event-header.ts';
import { identify, openingMessage } from './legitimate.ts';

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

/** Inserts a ticket with an id. Returns undefined if the id is taken. */
export async function insertWithId(
  context: Context,
  call: Call,
  input: TicketInput,
  id: number,
): Promise<StoredTicket | undefined> {
  const { lastAgentRouting } = await context.settings();
  const creator = { profileId: call.caller.profileId, isHuman: isHuman(call.caller) };
  const given = newTicket(input, { id, now: context.now(), creator, lastAgentRouting });
  const identified = await identify(context, given, openingMessage(given), { mode: 'cached' });
  const ticket = { ...given, ...identified.input };
  const appliedRequest = call.idempotency && { id: call.idempotency.id, at: new Date(context.now() * 1000) };
  const event = createdEvent(ticket, eventHeaderOf(context, call));
  return (await context.tickets.insert(ticket, event, appliedRequest)) ? newStoredTicket(ticket) : undefined;
}
