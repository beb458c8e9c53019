import { fromJsonString, type JsonObject, toJsonString } from '@bufbuild/protobuf';
import {
  IntentOutcomeSchema,
  type TicketIntent,
  type TicketIntentSummary,
} from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { IntentState } from './rules/intent.ts';

/** Makes the messages of the intents of a ticket in full form. */
export function intentMessages(ticketId: number, intents: readonly IntentState[]): TicketIntent[] {
  return intents.map(({ contractId, confidence, messagePreview, recipient, data, options, outcome, ...intent }) => ({
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
    ...(outcome === null ? {} : { outcome: fromJsonString(IntentOutcomeSchema, outcome) }),
  }));
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
    outcome: intent.outcome === undefined ? null : toJsonString(IntentOutcomeSchema, intent.outcome),
  }));
}

function infoMessages(infos: IntentState['infos']): TicketIntent['infos'] {
  return infos.map(({ extraInfo, ...info }) => ({
    ...info,
    $typeName: 'ticketing.tickets.v1.IntentInfo',
    ...(extraInfo === null ? {} : { extraInfo }),
  }));
}
