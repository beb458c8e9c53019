import type { JsonValue } from '@bufbuild/protobuf';
import { Direction } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { EventActor, EventHeader } from '../../rules/event-header.ts';
import { bodyFields, changedFields, type TicketChange } from './change.ts';
import { initialTicket, type TicketFieldName, type TicketState, ticketField } from './fields.ts';

/** An event of a ticket. The outbox holds it until the relay sends it. Units: `occurredAt` in Unix seconds. */
export interface TicketEvent {
  eventId: string;
  type:
    | 'ticket.created'
    | 'ticket.updated'
    | 'ticket.deleted'
    | 'conversation.created'
    | 'conversation.published'
    | 'conversation.failed'
    | 'intent.executed';
  /** The version of the ticket after it. */
  version: number;
  /** The mailbox of the ticket. */
  subchannelId: number | null;
  occurredAt: number;
  changes: readonly FieldChange[];
  actor: EventActor;
  cause: 'request' | 'analysis' | 'refresh' | 'schedule' | 'message' | 'execution' | 'deliveryFailed' | 'import';
  /** Set if the ticket was opened because its `dueBy` passed. */
  autoOpenedDueToDueDate?: true;
  /** The message that it is about. */
  conversationId?: number;
  /** The intent that it is about. */
  intentId?: number;
  /** The trace of the request that caused it. */
  traceparent?: string;
}

/** A field that changed. Only enums, ids and times have their values in an event, texts never. */
export interface FieldChange {
  field: string;
  oldValue?: JsonValue;
  newValue?: JsonValue;
}

/** Makes the event of a new ticket. Its changes are the differences from a ticket with default values. */
export function createdEvent(
  ticket: TicketState,
  header: EventHeader,
  cause: TicketEvent['cause'] = 'request',
): TicketEvent {
  const initial = { ...initialTicket, id: ticket.id };
  const change = { after: ticket, changed: changedFields(initial, ticket) };
  return { ...event('ticket.created', initial, change, header), cause };
}

export function updatedEvent(before: TicketState, change: TicketChange, header: EventHeader): TicketEvent {
  return event('ticket.updated', before, change, header);
}

/** Makes the event of a message that was added or published, with what it changed in its ticket. */
export function conversationEvent(
  type: 'conversation.created' | 'conversation.published',
  before: TicketState,
  change: TicketChange,
  header: EventHeader,
  message: { id: number; direction: Direction },
): TicketEvent {
  const cause = message.direction === Direction.IN ? 'message' : 'request';
  return { ...event(type, before, change, header), conversationId: message.id, cause };
}

/** Makes the event of a message that has not arrived, with what that changed in its ticket. */
export function failedEvent(
  before: TicketState,
  change: TicketChange,
  header: EventHeader,
  conversationId: number,
): TicketEvent {
  return { ...event('conversation.failed', before, change, header), conversationId, cause: 'deliveryFailed' };
}

/** Makes the event of an executed intent, with what the execution changed in its ticket. */
export function executedEvent(
  before: TicketState,
  change: TicketChange,
  header: EventHeader,
  intentId: number,
): TicketEvent {
  return { ...event('intent.executed', before, change, header), intentId, cause: 'execution' };
}

/** Makes the event of a ticket that was opened because its `dueBy` passed. */
export function reopenedEvent(before: TicketState, change: TicketChange, header: EventHeader): TicketEvent {
  return { ...updatedEvent(before, change, header), cause: 'schedule', autoOpenedDueToDueDate: true };
}

/** Makes the event of a deletion. It contains no data of the ticket. Units: `now` in Unix seconds. */
export function deletedEvent(ticket: TicketState, header: EventHeader, now: number): TicketEvent {
  const after = { ...ticket, version: ticket.version + 1, modifiedAt: now };
  return event('ticket.deleted', ticket, { after, changed: [] }, header);
}

function event(
  type: TicketEvent['type'],
  before: TicketState,
  { after, changed }: TicketChange,
  { eventId, actor, traceparent }: EventHeader,
): TicketEvent {
  return {
    eventId,
    type,
    version: after.version,
    subchannelId: after.subchannelId,
    occurredAt: after.modifiedAt ?? 0,
    changes: fieldChanges(changed, before, after),
    actor: { profileId: actor.profileId, kind: actor.kind },
    cause: 'request',
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** Fields that events do not list, because every change sets them or they are derived from others. */
const unlisted = new Set<string>([
  ...['version', 'modifiedAt', 'interventionVersion', ...bodyFields],
  ...['customerTagIds', 'customerEmail'],
  ...['openingMessageId', 'incomingMessages', 'outgoingMessages', 'internalMessages', 'latestMessage'],
  ...['replyTo', 'author', 'lastMail', 'openingNotSent'],
]);

/** Fields whose names in the contract differ from those under which they are stored. */
const shownAs: Readonly<Record<string, string>> = { lastResponseAuthorId: 'lastResponseAuthor' };

/** Lists the changes of an event: each field by its name, with both values where events may contain them. */
export function fieldChanges(
  changed: readonly TicketFieldName[],
  before: Partial<TicketState>,
  after: Partial<TicketState>,
): FieldChange[] {
  return changed
    .filter((field) => !unlisted.has(field))
    .map((name) => {
      const { toEvent } = ticketField(name);
      const field = shownAs[name] ?? name;
      return toEvent ? { field, oldValue: toEvent(before[name]), newValue: toEvent(after[name]) } : { field };
    });
}
