import { createHash } from 'node:crypto';
import type { JsonValue } from '@bufbuild/protobuf';
import { outcomeFromTexts, outcomeToTexts } from '@ticketing/contracts/outcome-texts.ts';
import { TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { duplicatesIn, isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import type { ErasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { type IdSequence, idSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { Leased } from '@ticketing/store/leases/lease.ts';
import type { Connection, mongo } from 'mongoose';
import { countValues } from './rules/data.ts';
import type { ExecutionState } from './rules/execution.ts';
import type { IntentProposal, IntentState } from './rules/intent.ts';

/** The proposals of an analysis for a ticket. */
export interface TicketProposals {
  ticketId: number;
  proposals: readonly IntentProposal[];
}

/** The intents of some of the tickets that were asked for. */
export interface IntentsOfTickets {
  intents: Map<number, IntentState[]>;
  remainingIds: number[];
}

/** The intents. Errors of every operation: store_unavailable. */
export interface IntentStore {
  nextId(): Promise<number>;
  find(id: number): Promise<IntentState | undefined>;
  /**
   * Returns the intents that a ticket shows, sorted by id. Executable ones are chosen first, then executed, then
   * invalidated ones, each the newest first: at most 100, without intents that do not fit with the previous ones into a
   * protobuf message.
   */
  ofTicket(ticketId: number): Promise<IntentState[]>;
  /**
   * Returns the same of several tickets, by their ids, until they have more than some bytes together: at least those of
   * one ticket, and `remainingIds`, which were not read.
   */
  ofTickets(ticketIds: readonly number[], maxBytes: number): Promise<IntentsOfTickets>;
  /**
   * Stores the proposals of analyses for different tickets, in place of earlier ones. The same proposal keeps its id; one
   * that was executed, or is being executed, is not made again. An intent that is no longer proposed is invalidated.
   */
  propose(proposals: readonly TicketProposals[]): Promise<void>;
  /**
   * Adds an intent that a request has made. One with its id stays as it is. Returns the stored one; undefined if its
   * ticket was deleted.
   */
  add(intent: IntentState): Promise<IntentState | undefined>;
  /** Removes the intents of tickets. */
  erase(ticketIds: readonly number[]): Promise<void>;
}

const { READY, EXECUTED, INVALIDATED } = TicketIntentStatus;

/** The most intents that a ticket shows. */
const maxShown = 100;
/** The number of invalidated intents of a ticket that are kept. */
const maxInvalidated = 10;
/** The bytes of the intents that a ticket shows: well below the limits of a message and of a ticket. */
const maxBytes = 1024 * 1024;

/** Opens the intents on a connection. */
export function intentStore(connection: Connection, deletedTickets: Pick<ErasedIds, 'among'>): IntentStore {
  const intents = intentCollection(connection);
  const ids = idSequence(connection, 'intent');
  const find = (id: number) =>
    storeCall(async () => {
      const document = await intents.findOne({ _id: id });
      return document ? fromDocument(document) : undefined;
    });
  const erase = async (ticketIds: readonly number[]) => {
    if (ticketIds.length === 0) return;
    await storeCall(() => intents.deleteMany({ ticketId: { $in: [...ticketIds] } }));
  };
  // The erasure of a ticket that is deleted during a write does not see the write.
  const eraseIfDeleted = async (ticketIds: readonly number[]) => erase([...(await deletedTickets.among(ticketIds))]);
  const ofTickets = (ticketIds: readonly number[], limit: number) =>
    storeCall(() => shownIntents(intents, ticketIds, limit));
  return {
    nextId: () => ids.next(),
    find,
    ofTicket: async (ticketId) => (await ofTickets([ticketId], maxBytes)).intents.get(ticketId) ?? [],
    ofTickets,
    async propose(proposals) {
      await eraseIfDeleted(await storeCall(() => propose(intents, ids, proposals)));
    },
    async add(intent) {
      await storeCall(() => insert(intents, intent));
      await eraseIfDeleted([intent.ticketId]);
      return find(intent.id);
    },
    erase,
  };
}

type Size = Pick<IntentDocument, '_id' | 'ticketId' | 'status' | 'bytes' | 'outcomeBytes'>;

async function shownIntents(intents: Intents, ticketIds: readonly number[], limit: number): Promise<IntentsOfTickets> {
  if (ticketIds.length === 0) return { intents: new Map(), remainingIds: [] };
  const sizes = await intents
    .find({ ticketId: { $in: [...ticketIds] } }, { projection: { ticketId: 1, status: 1, bytes: 1, outcomeBytes: 1 } })
    .sort({ _id: -1 })
    .toArray();
  const sizesByTicket = Map.groupBy(sizes, ({ ticketId }) => ticketId);
  const found = new Map<number, IntentState[]>();
  const shownIds: number[] = [];
  let bytes = 0;
  for (const ticketId of ticketIds) {
    const shown = chooseShown(sizesByTicket.get(ticketId) ?? []);
    if (found.size > 0 && bytes + shown.bytes > limit) break;
    bytes += shown.bytes;
    shownIds.push(...shown.ids);
    found.set(ticketId, []);
  }
  const documents =
    shownIds.length === 0
      ? []
      : await intents
          .find({ _id: { $in: shownIds } })
          .sort({ _id: 1 })
          .toArray();
  for (const document of documents) found.get(document.ticketId)?.push(fromDocument(document));
  return { intents: found, remainingIds: ticketIds.filter((id) => !found.has(id)) };
}

/** Chooses the intents that a ticket shows. `newestFirst` are all of its intents. */
function chooseShown(newestFirst: readonly Size[]): { ids: number[]; bytes: number } {
  const ids: number[] = [];
  let bytes = 0;
  const byPrecedence = [READY, EXECUTED, INVALIDATED].flatMap((status) =>
    newestFirst.filter((one) => one.status === status),
  );
  for (const one of byPrecedence.slice(0, maxShown)) {
    const own = one.bytes + (one.outcomeBytes ?? 0);
    if (bytes + own > maxBytes) continue;
    bytes += own;
    ids.push(one._id);
  }
  return { ids, bytes };
}

type Known = Pick<IntentDocument, 'ticketId' | 'proposal' | 'status' | 'proposedBy'>;

/** Stores the proposals of tickets. Returns the tickets for which something was written. */
async function propose(intents: Intents, ids: IdSequence, all: readonly TicketProposals[]): Promise<number[]> {
  if (all.length === 0) return [];
  const known = await intents
    .find(
      { ticketId: { $in: all.map(({ ticketId }) => ticketId) } },
      { projection: { ticketId: 1, proposal: 1, status: 1, proposedBy: 1 } },
    )
    .toArray();
  const knownByTicket = Map.groupBy(known, ({ ticketId }) => ticketId);
  const writes = await Promise.all(
    all.map(async (one) => ({
      ticketId: one.ticketId,
      writes: await proposalWrites(ids, one, knownByTicket.get(one.ticketId) ?? []),
    })),
  );
  const written = writes.filter((one) => one.writes.length > 0);
  if (written.length === 0) return [];
  try {
    await intents.bulkWrite(
      written.flatMap((one) => one.writes),
      { ordered: false },
    );
  } catch (error) {
    // A proposal that is stored already is not stored again.
    if (!duplicatesIn(error)) throw error;
  }
  const ticketIds = written.map(({ ticketId }) => ticketId);
  const mayHaveMany = ({ ticketId }: TicketProposals) => (knownByTicket.get(ticketId)?.length ?? 0) > maxInvalidated;
  for (const { ticketId } of all.filter(mayHaveMany)) await removeOldInvalidated(intents, ticketId);
  return ticketIds;
}

type IntentWrite = mongo.AnyBulkWriteOperation<IntentDocument>;

async function proposalWrites(
  ids: IdSequence,
  { ticketId, proposals }: TicketProposals,
  known: readonly Known[],
): Promise<IntentWrite[]> {
  const keyed = new Map(proposals.map((proposal) => [proposalKey(proposal), proposal]));
  // Running executions are not touched.
  const ready = { ticketId, proposedBy: 'analysis' as const, status: READY, execution: null };
  const writes: IntentWrite[] = [];
  const isOutdated = ({ proposal, status, proposedBy }: Known) =>
    status === READY && proposedBy === 'analysis' && !keyed.has(proposal ?? '');
  if (known.some(isOutdated)) {
    const update = { $set: { status: INVALIDATED, proposal: null, autoExecuteAt: null } };
    writes.push({ updateMany: { filter: { ...ready, proposal: { $nin: [...keyed.keys()] } }, update } });
  }
  for (const [key, proposal] of keyed) {
    const intent: IntentState = { ...proposal, ...initial, id: 0, ticketId };
    if (known.some((one) => one.proposal === key)) {
      const { name, code, confidence, confidenceColor, messagePreview, recipient, options, infos, autoExecuteAt } =
        intent;
      const shown = { name, code, confidence, confidenceColor, messagePreview, recipient, options, infos };
      const fields = { ...shown, bytes: estimateBytes(intent) };
      const same = { ...ready, proposal: key };
      writes.push(
        { updateOne: { filter: { ...same, outcome: null }, update: { $set: { ...fields, autoExecuteAt } } } },
        // One that has failed is executed again by a person only.
        { updateOne: { filter: { ...same, outcome: { $ne: null } }, update: { $set: fields } } },
      );
    } else {
      writes.push({ insertOne: { document: toDocument({ ...intent, id: await ids.next() }) } });
    }
  }
  return writes;
}

const initial = {
  proposedBy: 'analysis' as const,
  verified: false,
  status: READY,
  outcome: null,
  execution: null,
};

/** Inserts an intent. If its id or its proposal is stored already, nothing is. */
async function insert(intents: Intents, intent: IntentState): Promise<void> {
  try {
    await intents.insertOne(toDocument(intent));
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}

async function removeOldInvalidated(intents: Intents, ticketId: number): Promise<void> {
  const filter = { ticketId, status: INVALIDATED };
  const old = await intents
    .find(filter, { projection: { _id: 1 } })
    .sort({ _id: -1 })
    .skip(maxInvalidated)
    .toArray();
  if (old.length > 0) await intents.deleteMany({ ...filter, _id: { $in: old.map(({ _id }) => _id) } });
}

/** The document of an intent. Objects of open shape are JSON text, because their names can be any. */
export interface IntentDocument
  extends Leased<number>,
    Omit<IntentState, 'id' | 'data' | 'outcome' | 'execution' | 'status'> {
  status: TicketIntentStatus;
  data: string | null;
  outcome: string | null;
  outcomeMessage?: string;
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

/** Opens the collection of the intents. */
export function intentCollection(connection: Connection): Intents {
  return openCollection<IntentDocument>(connection, 'intents');
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
export function toDocument(state: IntentState): Omit<IntentDocument, 'lease'> {
  const { id, data, outcome, execution, ...fields } = state;
  const outcomeTexts = outcome && outcomeToTexts(outcome);
  const texts = {
    ...fields,
    data: data && JSON.stringify(data),
    ...(outcomeTexts ?? { outcome: null }),
    execution: execution && JSON.stringify(execution),
    txId: execution?.txId ?? (outcome?.txId || null),
    proposal: state.proposedBy === 'analysis' ? proposalKey(state) : null,
  };
  return { _id: id, ...texts, bytes: estimateBytes(state), outcomeBytes: jsonWeight(outcomeTexts?.outcome ?? null) };
}

/** Converts a document to the intent. */
export function fromDocument(document: IntentDocument): IntentState {
  const {
    _id,
    data,
    outcome,
    outcomeMessage,
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
    outcome: outcome === null ? null : outcomeFromTexts(outcome, outcomeMessage),
    execution: execution === null ? null : (JSON.parse(execution) as ExecutionState),
  };
}

/** Identifies a proposal for a ticket: two proposals with the same key are one intent. */
function proposalKey({ aiAgentId, contractId, data }: IntentProposal): string {
  return createHash('sha256')
    .update(JSON.stringify([aiAgentId, contractId, sorted(data)]))
    .digest('base64url');
}

/** Returns a value whose objects have their members in one order. */
function sorted(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return entries.map(([name, part]) => [name, sorted(part)]);
}

/** The least bytes that a value counts as: a protobuf message is limited in both bytes and values. */
const bytesPerValue = 64;

/** Estimates the size of a JSON text in a protobuf message, in bytes; many small values count more than their bytes. */
export function jsonWeight(text: string | null): number {
  return text === null ? 0 : Math.max(Buffer.byteLength(text), bytesPerValue * countValues(JSON.parse(text)));
}

/** Estimates the size of an intent in a protobuf message, in bytes, from its parts that can be large. */
export function estimateBytes({
  data,
  infos,
  options,
  messagePreview,
}: Pick<IntentProposal, 'data' | 'infos' | 'options' | 'messagePreview'>): number {
  return 1000 + jsonWeight(JSON.stringify(data)) + jsonWeight(JSON.stringify([infos, options, messagePreview]));
}
