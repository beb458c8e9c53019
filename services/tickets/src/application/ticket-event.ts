import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import { traceparentOf } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { changedFields } from '../domain/ticket.ts';
import { type EventOrigin, fieldChanges, type TicketEvent } from '../domain/ticket-event.ts';
import { fieldOf, initialTicket, type TicketFieldName, type TicketState } from '../domain/ticket-fields.ts';

/** Who makes a request, and the trace that it belongs to. */
export function originOf({ caller, trace }: Pick<Call, 'caller' | 'trace'>): EventOrigin {
  return { profileId: caller.profileId, kind: caller.kind, traceparent: traceparentOf(trace) };
}

/** The event of a ticket that was created: what differs from a ticket of which nothing has been given. */
export function createdEvent(ticket: TicketState, origin: EventOrigin): TicketEvent {
  const initial = { ...initialTicket, id: ticket.id };
  return event('ticket.created', initial, ticket, changedFields(initial, ticket), origin);
}

/** The event of a change. */
export function updatedEvent(
  before: TicketState,
  after: TicketState,
  changed: readonly TicketFieldName[],
  origin: EventOrigin,
): TicketEvent {
  return event('ticket.updated', before, after, changed, origin);
}

/** The event of a ticket that was opened because its `dueBy` passed. */
export function reopenedEvent(
  before: TicketState,
  after: TicketState,
  changed: readonly TicketFieldName[],
  origin: EventOrigin,
): TicketEvent {
  return { ...updatedEvent(before, after, changed, origin), cause: 'schedule', autoOpenedDueToDueDate: true };
}

/** The event of a deletion: it tells nothing of what was. Units: `now` in Unix seconds. */
export function deletedEvent(ticket: TicketState, origin: EventOrigin, now: number): TicketEvent {
  const after = { ...ticket, version: ticket.version + 1, modifiedAt: now };
  return event('ticket.deleted', ticket, after, [], origin);
}

function event(
  type: TicketEvent['type'],
  before: TicketState,
  after: TicketState,
  changed: readonly TicketFieldName[],
  { profileId, kind, traceparent }: EventOrigin,
): TicketEvent {
  return {
    eventId: timeOrderedId('evt'),
    type,
    version: after.version,
    subchannelId: after.subchannelId,
    occurredAt: after.modifiedAt ?? 0,
    changes: fieldChanges(changed, before, after, (field, value) => fieldOf(field as TicketFieldName).toEvent?.(value)),
    actor: { profileId, kind },
    cause: 'request',
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}
