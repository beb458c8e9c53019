import { createHash } from 'node:crypto';
import { fromJsonString, type JsonValue, toJsonString } from '@bufbuild/protobuf';
import { IntentOutcomeSchema, type TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import type { Leased } from '@ticketing/store/lease.ts';
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
  /** Identifies what was proposed, so that nothing is proposed twice; null once it was invalidated, or was not proposed. */
  proposal: string | null;
  /** About how many bytes it has in a message, without its outcome. */
  bytes: number;
  /** The same of its outcome. Documents of earlier versions have none. */
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

/** What is stored of an intent, apart from its lease. */
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

/** Identifies what is proposed for a ticket: two proposals with the same key are one intent. */
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

/** A message may have so many bytes for each of its values: it is limited in both. */
const bytesPerValue = 64;

/** About how much of a message a JSON text takes, in bytes; many small values take more than their bytes. */
export function weightOf(text: string | null): number {
  return text === null ? 0 : Math.max(Buffer.byteLength(text), bytesPerValue * jsonValues(JSON.parse(text)));
}

/** About how many bytes of a message the parts of an intent are whose size is not limited to little. */
export function bytesOf({
  data,
  infos,
  options,
  messagePreview,
}: Pick<IntentProposal, 'data' | 'infos' | 'options' | 'messagePreview'>): number {
  return 1000 + weightOf(JSON.stringify(data)) + weightOf(JSON.stringify([infos, options, messagePreview]));
}
