import { create, fromJson, toBinary } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import {
  ActorSchema,
  ChangeCause,
  FieldChangeSchema,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import type { OutgoingMessage } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { FieldChange, TicketEvent } from './rules/event.ts';

const types: Record<TicketEvent['type'], TicketChangeType> = {
  'ticket.created': TicketChangeType.TICKET_CREATED,
  'ticket.updated': TicketChangeType.TICKET_UPDATED,
  'ticket.deleted': TicketChangeType.TICKET_DELETED,
  'conversation.created': TicketChangeType.CONVERSATION_CREATED,
  'conversation.published': TicketChangeType.CONVERSATION_PUBLISHED,
  'intent.executed': TicketChangeType.INTENT_EXECUTED,
};
const causes: Record<TicketEvent['cause'], ChangeCause> = {
  request: ChangeCause.REQUEST,
  analysis: ChangeCause.ANALYSIS,
  refresh: ChangeCause.REFRESH,
  schedule: ChangeCause.SCHEDULE,
  message: ChangeCause.MESSAGE,
  execution: ChangeCause.EXECUTION,
};

/** The message for the event that a ticket has changed. Source: docs/reference/api.md, Events. */
export function ticketChangedMessage(ticketId: number, event: TicketEvent): OutgoingMessage {
  const { eventId, version, subchannelId, occurredAt, changes, actor, cause } = event;
  const value = create(TicketChangedSchema, {
    eventId,
    type: types[event.type],
    ticketId,
    version,
    ...(subchannelId === null ? {} : { subchannelId }),
    ...(event.conversationId === undefined ? {} : { conversationId: event.conversationId }),
    ...(event.intentId === undefined ? {} : { intentId: event.intentId }),
    occurredAt: toTimestamp(occurredAt),
    changes: changes.map(fieldChange),
    actor: create(ActorSchema, {
      kind: actor.kind,
      ...(actor.profileId === null ? {} : { profileId: actor.profileId }),
    }),
    cause: causes[cause],
    autoOpenedDueToDueDate: event.autoOpenedDueToDueDate ?? false,
  });
  const envelope = {
    id: eventId,
    type: event.type,
    source: 'ticketing/tickets',
    subject: String(ticketId),
    time: occurredAt,
    traceparent: event.traceparent,
  };
  return eventMessage(String(ticketId), envelope, toBinary(TicketChangedSchema, value));
}

function fieldChange({ field, oldValue, newValue }: FieldChange) {
  return create(FieldChangeSchema, {
    field,
    ...(oldValue === undefined ? {} : { oldValue: fromJson(ValueSchema, oldValue) }),
    ...(newValue === undefined ? {} : { newValue: fromJson(ValueSchema, newValue) }),
  });
}
