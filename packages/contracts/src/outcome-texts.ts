import { fromJson, type JsonObject, toJson } from '@bufbuild/protobuf';
import { type IntentOutcome, IntentOutcomeSchema } from './gen/ticketing/tickets/v1/intent_pb.ts';

/** An outcome as JSON text. */
export interface OutcomeTexts {
  /** The fields that every version knows. */
  outcome: string;
  /** The other fields: processes of an earlier version refuse JSON with fields that they do not know. Absent without any. */
  outcomeMessage?: string;
}

/** The last number of a field that every version knows. */
const lastKnown = 14;
const knownFields = new Set(
  IntentOutcomeSchema.fields.flatMap(({ number, jsonName }) => (number <= lastKnown ? [jsonName] : [])),
);

/** Returns the texts in which an outcome is stored. */
export function outcomeToTexts(outcome: IntentOutcome): OutcomeTexts {
  const entries = Object.entries(toJson(IntentOutcomeSchema, outcome) as JsonObject);
  const toText = (some: typeof entries) => JSON.stringify(Object.fromEntries(some));
  const others = entries.filter(([name]) => !knownFields.has(name));
  return {
    outcome: toText(entries.filter(([name]) => knownFields.has(name))),
    ...(others.length === 0 ? {} : { outcomeMessage: toText(others) }),
  };
}

/** Reads an outcome from its texts; one of an earlier version has the first only. */
export function outcomeFromTexts(outcome: string, outcomeMessage: string | null | undefined): IntentOutcome {
  const json = { ...JSON.parse(outcome), ...JSON.parse(outcomeMessage ?? '{}') };
  return fromJson(IntentOutcomeSchema, json, { ignoreUnknownFields: true });
}
