import type { Caller } from '@ticketing/service-kit/caller.ts';
import { timeOrderedId } from '@ticketing/service-kit/time-ordered-id.ts';
import { changedFields } from '../domain/ticket.ts';
import { type EventActor, fieldChanges, type TicketEvent } from '../domain/ticket-event.ts';
import { fieldOf, initialTicket, type TicketFieldName, type TicketState } from '../store/ticket-fields.ts';

/** The event of a ticket that was created: what differs from a ticket of which nothing has been given. */
export function createdEvent(ticket: TicketState, caller: Caller): TicketEvent {
  const initial = { ...initialTicket, id: ticket.id };
  return event('ticket.created', initial, ticket, changedFields(initial, ticket), caller);
}

/** The event of a change. */
export function updatedEvent(
  before: TicketState,
  after: TicketState,
  changed: readonly TicketFieldName[],
  actor: EventActor,
): TicketEvent {
  return event('ticket.updated', before, after, changed, actor);
}

/** The event of a ticket that was opened because its `dueBy` passed. */
export function reopenedEvent(
  before: TicketState,
  after: TicketState,
  changed: readonly TicketFieldName[],
  caller: Caller,
): TicketEvent {
  return { ...updatedEvent(before, after, changed, caller), cause: 'schedule', autoOpenedDueToDueDate: true };
}

/** The event of a deletion: it tells nothing of what was. Units: `now` in Unix seconds. */
export function deletedEvent(ticket: TicketState, caller: Caller, now: number): TicketEvent {
  const after = { ...ticket, version: ticket.version + 1, modifiedAt: now };
  return event('ticket.deleted', ticket, after, [], caller);
}

function event(
  type: TicketEvent['type'],
  before: TicketState,
  after: TicketState,
  changed: readonly TicketFieldName[],
  { profileId, kind }: EventActor,
): TicketEvent {
  return {
    eventId: timeOrderedId('evt'),
    type,
    version: after.version,
    occurredAt: after.modifiedAt ?? 0,
    changes: fieldChanges(changed, before, after, (field, value) => fieldOf(field as TicketFieldName).toEvent?.(value)),
    actor: { profileId, kind },
    cause: 'request',
  };
}
