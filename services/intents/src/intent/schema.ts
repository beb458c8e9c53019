import { createHash } from 'node:crypto';
import { fromJsonString, type JsonValue, toJsonString } from '@bufbuild/protobuf';
import { IntentOutcomeSchema, type TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { Leased } from '@ticketing/store/leases/lease.ts';
import type { Connection, mongo } from 'mongoose';
import type { ExecutionState } from './rules/execution.ts';
import type { IntentProposal, IntentState } from './rules/intent.ts';
import { jsonValues } from './rules/json-values.ts';

/** The document of an intent. Objects of open shape are JSON text, because their names can be any. */
export interface IntentDocument
  extends Leased<number>,
    Omit<IntentState, 'id' | 'data' | 'outcome' | 'execution' | 'status'> {
  status: TicketIntentStatus;
  data: string | null;
  outcome: string | null;
  execution: string | null;
  /** The id of the running execution, and of the last one. */
  txId: string | null;
  /** Identifies the proposal, so that nothing is proposed twice; null if it was invalidated, or was not proposed. */
  proposal: string | null;
  /** The approximate size in a protobuf message, without its outcome, in bytes. */
  bytes: number;
  /** The approximate size of its outcome, in bytes. Documents of earlier versions lack it. */
  outcomeBytes?: number;
}

/** The intents of a database. */
export type Intents = mongo.Collection<IntentDocument>;

/** The collection of the intents. */
export function intentCollection(connection: Connection): Intents {
  return connection.collection('intents') as unknown as Intents;
}

/** Builds the missing indexes of the intents. */
export async function buildIntentIndexes(connection: Connection): Promise<void> {
  const intents = intentCollection(connection);
  await intents.createIndex({ ticketId: 1, _id: 1 });
  await intents.createIndex(
    { ticketId: 1, proposal: 1 },
    { unique: true, partialFilterExpression: { proposal: { $gt: '' } } },
  );
  await intents.createIndex({ autoExecuteAt: 1 }, { partialFilterExpression: { autoExecuteAt: { $gte: 0 } } });
  await intents.createIndex({ 'lease.expiresAt': 1 }, { partialFilterExpression: { execution: { $gt: '' } } });
}

/** Converts an intent to its document, without the lease. */
export function documentOf(state: IntentState): Omit<IntentDocument, 'lease'> {
  const { id, data, outcome, execution, ...fields } = state;
  const outcomeText = outcome && toJsonString(IntentOutcomeSchema, outcome);
  const stored = {
    ...fields,
    data: data && JSON.stringify(data),
    outcome: outcomeText,
    execution: execution && JSON.stringify(execution),
    txId: execution?.txId ?? (outcome?.txId || null),
    proposal: state.proposedBy === 'analysis' ? proposalKey(state) : null,
  };
  return { _id: id, ...stored, bytes: bytesOf(state), outcomeBytes: weightOf(outcomeText) };
}

/** A stored intent. */
export function stateOf(document: IntentDocument): IntentState {
  const {
    _id,
    data,
    outcome,
    execution,
    txId: _tx,
    proposal: _proposal,
    bytes: _bytes,
    outcomeBytes: _outcomeBytes,
    lease: _,
    ...fields
  } = document;
  return {
    ...fields,
    id: _id,
    data: data === null ? null : JSON.parse(data),
    outcome: outcome === null ? null : fromJsonString(IntentOutcomeSchema, outcome),
    execution: execution === null ? null : (JSON.parse(execution) as ExecutionState),
  };
}

/** Identifies a proposal for a ticket: two proposals with the same key are one intent. */
export function proposalKey({ aiAgentId, contractId, data }: IntentProposal): string {
  return createHash('sha256')
    .update(JSON.stringify([aiAgentId, contractId, sorted(data)]))
    .digest('base64url');
}

/** A value whose objects have their members in one order. */
function sorted(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return entries.map(([name, part]) => [name, sorted(part)]);
}

/** The least bytes that a value counts as: a protobuf message is limited in both bytes and values. */
const bytesPerValue = 64;

/** Estimates the size of a JSON text in a protobuf message, in bytes; many small values count more than their bytes. */
export function weightOf(text: string | null): number {
  return text === null ? 0 : Math.max(Buffer.byteLength(text), bytesPerValue * jsonValues(JSON.parse(text)));
}

/** Estimates the size of an intent in a protobuf message, in bytes, from its parts that can be large. */
export function bytesOf({
  data,
  infos,
  options,
  messagePreview,
}: Pick<IntentProposal, 'data' | 'infos' | 'options' | 'messagePreview'>): number {
  return 1000 + weightOf(JSON.stringify(data)) + weightOf(JSON.stringify([infos, options, messagePreview]));
}
