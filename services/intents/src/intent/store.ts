import { TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/document/store-error.ts';
import type { IdSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { Connection } from 'mongoose';
import type { IntentProposal, IntentState } from './rules/intent.ts';
import {
  bytesOf,
  documentOf,
  type IntentDocument,
  type Intents,
  intentCollection,
  proposalKey,
  stateOf,
} from './schema.ts';

/** The proposals of an analysis for a ticket. */
export interface TicketProposals {
  ticketId: number;
  proposals: readonly IntentProposal[];
}

/** The intents. Errors of every operation: store_unavailable. */
export interface IntentStore {
  find(id: number): Promise<IntentState | undefined>;
  /**
   * Returns the intents that a ticket shows, sorted by id. Executable ones are chosen first, then executed, then
   * invalidated ones, each the newest first: at most 100, without intents that do not fit with the previous ones into a
   * protobuf message.
   */
  ofTicket(ticketId: number): Promise<IntentState[]>;
  /**
   * Stores the proposals of an analysis for a ticket, in place of earlier ones. The same proposal keeps its id; one
   * that was executed, or is being executed, is not made again. An intent that is no longer proposed is invalidated.
   */
  propose(proposals: TicketProposals): Promise<void>;
  /** Adds an intent that a request has made. One with its id stays as it is. */
  add(intent: IntentState): Promise<void>;
  /** Removes the intents of tickets. */
  erase(ticketIds: readonly number[]): Promise<void>;
}

const { READY, EXECUTED, INVALIDATED } = TicketIntentStatus;

/** The most intents that a ticket shows. */
const maxShown = 100;
/** The number of invalidated intents of a ticket that are kept. */
const maxInvalidated = 10;
/** The bytes of the intents that a ticket shows: well below the limit of a message, and that of a ticket. */
const maxBytes = 1024 * 1024;

/** Opens the intents on a connection. */
export function intentStore(connection: Connection, ids: IdSequence): IntentStore {
  const intents = intentCollection(connection);
  return {
    find: (id) =>
      storeCall(async () => {
        const found = await intents.findOne({ _id: id });
        return found ? stateOf(found) : undefined;
      }),
    ofTicket: (ticketId) => storeCall(() => shownIntents(intents, ticketId)),
    propose: (proposals) => storeCall(() => propose(intents, ids, proposals)),
    add: (intent) => storeCall(() => insert(intents, intent)),
    erase: async (ticketIds) => {
      if (ticketIds.length === 0) return;
      await storeCall(() => intents.deleteMany({ ticketId: { $in: [...ticketIds] } }));
    },
  };
}

async function shownIntents(intents: Intents, ticketId: number): Promise<IntentState[]> {
  const sizes: Pick<IntentDocument, '_id' | 'bytes' | 'outcomeBytes'>[] = [];
  for (const status of [READY, EXECUTED, INVALIDATED]) {
    const limit = maxShown - sizes.length;
    if (limit === 0) break;
    const newest = intents.find({ ticketId, status }, { projection: { bytes: 1, outcomeBytes: 1 } }).sort({ _id: -1 });
    sizes.push(...(await newest.limit(limit).toArray()));
  }
  let bytes = 0;
  const shown = sizes.filter((one) => {
    const own = one.bytes + (one.outcomeBytes ?? 0);
    if (bytes + own > maxBytes) return false;
    bytes += own;
    return true;
  });
  const found = await intents
    .find({ _id: { $in: shown.map(({ _id }) => _id) } })
    .sort({ _id: 1 })
    .toArray();
  return found.map(stateOf);
}

async function propose(intents: Intents, ids: IdSequence, { ticketId, proposals }: TicketProposals) {
  const keyed = new Map(proposals.map((proposal) => [proposalKey(proposal), proposal]));
  // Running executions are not touched.
  const ready = { ticketId, proposedBy: 'analysis' as const, status: READY, execution: null };
  const invalidated = { status: INVALIDATED, proposal: null, autoExecuteAt: null };
  await intents.updateMany({ ...ready, proposal: { $nin: [...keyed.keys()] } }, { $set: invalidated });
  const known = await intents
    .find({ ticketId, proposal: { $in: [...keyed.keys()] } }, { projection: { proposal: 1 } })
    .toArray();
  for (const [key, proposal] of keyed) {
    const intent: IntentState = { ...proposal, ...initial, id: 0, ticketId };
    if (known.some((one) => one.proposal === key)) {
      const { name, code, confidence, confidenceColor, messagePreview, recipient, options, infos, autoExecuteAt } =
        intent;
      const shown = { name, code, confidence, confidenceColor, messagePreview, recipient, options, infos };
      const fields = { ...shown, bytes: bytesOf(intent) };
      const same = { ...ready, proposal: key };
      await intents.updateOne({ ...same, outcome: null }, { $set: { ...fields, autoExecuteAt } });
      // One that has failed is executed again by a person only.
      await intents.updateOne({ ...same, outcome: { $ne: null } }, { $set: fields });
    } else {
      await insert(intents, { ...intent, id: await ids.next() });
    }
  }
  await removeOldInvalidated(intents, ticketId);
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
    await intents.insertOne(documentOf(intent));
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
