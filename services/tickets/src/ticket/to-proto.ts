import { create, fromJson, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { outcomeFromTexts, outcomeToTexts } from '@ticketing/contracts/outcome-texts.ts';
import {
  ActorSchema,
  ChangeCause,
  FieldChangeSchema,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import type { TicketIntent, TicketIntentSummary } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { OutgoingMessage } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { FieldChange, TicketEvent } from './rules/event.ts';
import type { IntentState, MessageDelivery } from './rules/intent.ts';

const types: Record<TicketEvent['type'], TicketChangeType> = {
  'ticket.created': TicketChangeType.TICKET_CREATED,
  'ticket.updated': TicketChangeType.TICKET_UPDATED,
  'ticket.deleted': TicketChangeType.TICKET_DELETED,
  'conversation.created': TicketChangeType.CONVERSATION_CREATED,
  'conversation.published': TicketChangeType.CONVERSATION_PUBLISHED,
  'conversation.failed': TicketChangeType.CONVERSATION_FAILED,
  'intent.executed': TicketChangeType.INTENT_EXECUTED,
};
const causes: Record<TicketEvent['cause'], ChangeCause> = {
  request: ChangeCause.REQUEST,
  analysis: ChangeCause.ANALYSIS,
  refresh: ChangeCause.REFRESH,
  schedule: ChangeCause.SCHEDULE,
  message: ChangeCause.MESSAGE,
  execution: ChangeCause.EXECUTION,
  deliveryFailed: ChangeCause.DELIVERY_FAILED,
  import: ChangeCause.IMPORT,
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

/** Makes the messages of the intents of a ticket in full form. `deliveries` has those of the messages of executions. */
export function intentMessages(
  ticketId: number,
  intents: readonly IntentState[],
  deliveries: Readonly<Record<string, MessageDelivery>>,
): TicketIntent[] {
  return intents.map(
    ({ contractId, confidence, messagePreview, recipient, data, options, outcome, outcomeMessage, ...intent }) => ({
      ...intent,
      $typeName: 'ticketing.tickets.v1.TicketIntent',
      ticketId,
      ...(contractId === null ? {} : { contractId }),
      ...(confidence === null ? {} : { confidence }),
      ...(messagePreview === null ? {} : { messagePreview }),
      ...(recipient === null ? {} : { recipient }),
      ...(data === null ? {} : { data: JSON.parse(data) as JsonObject }),
      options: options.map(({ icon, ...option }) => ({
        ...option,
        $typeName: 'ticketing.tickets.v1.IntentOption',
        ...(icon === null ? {} : { icon }),
      })),
      infos: infoMessages(intent.infos),
      ...showOutcome({ outcome, outcomeMessage }, deliveries),
    }),
  );
}

function showOutcome(
  { outcome, outcomeMessage }: { outcome: string | null; outcomeMessage: string | undefined },
  deliveries: Readonly<Record<string, MessageDelivery>>,
): Pick<TicketIntent, 'outcome'> {
  if (outcome === null) return {};
  const shown = outcomeFromTexts(outcome, outcomeMessage);
  const deliveryStatus = deliveries[shown.conversationId ?? 0]?.status;
  return { outcome: deliveryStatus === undefined ? shown : { ...shown, deliveryStatus } };
}

/** Makes the messages of the intents of a ticket in compact form. */
export function intentSummaries(intents: readonly IntentState[]): TicketIntentSummary[] {
  return intents.map(({ id, aiAgentId, name, confidenceColor, infos }) => ({
    $typeName: 'ticketing.tickets.v1.TicketIntentSummary',
    id,
    aiAgentId,
    name,
    confidenceColor,
    infos: infoMessages(infos),
  }));
}

/** The parts of the intents in a message that a ticket keeps. */
export function intentStates(intents: readonly TicketIntent[]): IntentState[] {
  return intents.map((intent) => ({
    id: intent.id,
    aiAgentId: intent.aiAgentId,
    code: intent.code,
    name: intent.name,
    contractId: intent.contractId ?? null,
    confidence: intent.confidence ?? null,
    confidenceColor: intent.confidenceColor,
    verified: intent.verified,
    status: intent.status,
    messagePreview: intent.messagePreview ?? null,
    recipient: intent.recipient ?? null,
    data: intent.data === undefined ? null : JSON.stringify(intent.data),
    options: intent.options.map(({ type, name, icon = null, recommended, order }) => {
      return { type, name, icon, recommended, order };
    }),
    infos: intent.infos.map(({ type, message, extraInfo = null }) => ({ type, message, extraInfo })),
    ...(intent.outcome === undefined ? { outcome: null } : outcomeToTexts(intent.outcome)),
  }));
}

function infoMessages(infos: IntentState['infos']): TicketIntent['infos'] {
  return infos.map(({ extraInfo, ...info }) => ({
    ...info,
    $typeName: 'ticketing.tickets.v1.IntentInfo',
    ...(extraInfo === null ? {} : { extraInfo }),
  }));
}
