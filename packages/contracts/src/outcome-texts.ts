import { fromJson, type JsonObject, toJson } from '@bufbuild/protobuf';
import { type IntentOutcome, IntentOutcomeSchema } from './gen/ticketing/tickets/v1/intent_pb.ts';

/** An outcome as JSON text. */
export interface OutcomeTexts {
  /** The fields that every version knows. */
  outcome: string;
  /** The fields about its message. Earlier versions do not know them, and refuse JSON with unknown fields. */
  outcomeMessage: string;
}

const messageFields = ['messageType', 'conversationId', 'deliveryStatus', 'notSentReason'];

/** Returns the texts in which an outcome is stored. */
export function outcomeToTexts(outcome: IntentOutcome): OutcomeTexts {
  const entries = Object.entries(toJson(IntentOutcomeSchema, outcome) as JsonObject);
  const toText = (isOfMessage: boolean) =>
    JSON.stringify(Object.fromEntries(entries.filter(([name]) => messageFields.includes(name) === isOfMessage)));
  return { outcome: toText(false), outcomeMessage: toText(true) };
}

/** Reads an outcome from its texts; those of earlier versions have no fields about its message. */
export function outcomeFromTexts(outcome: string, outcomeMessage: string | null | undefined): IntentOutcome {
  const json = { ...JSON.parse(outcome), ...JSON.parse(outcomeMessage ?? '{}') };
  return fromJson(IntentOutcomeSchema, json);
}
