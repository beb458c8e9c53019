import { outcomeToTexts } from '@ticketing/contracts/outcome-texts.ts';
import { type IntentOutcome, TicketIntentStatus } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import { type Claimed, openLeases } from '@ticketing/store/leases/lease.ts';
import type { Connection } from 'mongoose';
import type { ExecutionState } from '../intent/rules/execution.ts';
import type { IntentState } from '../intent/rules/intent.ts';
import { fromDocument, type IntentDocument, intentCollection, jsonWeight } from '../intent/store.ts';

/** An intent whose execution this process carries out. */
export interface ClaimedExecution {
  intent: IntentState;
  claim: Claimed<number>;
}

/** The change that a step makes to the intent. `execution: null` ends the execution; undefined keeps it. */
export interface ExecutionChange {
  execution?: ExecutionState | null;
  outcome?: IntentOutcome;
  status?: TicketIntentStatus;
  verified?: boolean;
  autoExecuteAt?: null;
}

/** The executions of intents. Errors of every operation: store_unavailable. */
export interface ExecutionStore {
  /** Claims an intent that is ready for an execution, in one write; undefined if it is not ready any more. */
  begin(id: number, execution: ExecutionState): Promise<ClaimedExecution | undefined>;
  /** Claims an execution whose process has died or given up; undefined if there is none. */
  takeOver(id: number): Promise<ClaimedExecution | undefined>;
  renew(claim: Claimed<number>): Promise<boolean>;
  /** Stores a step. Returns false if another process has taken the execution over, and nothing was stored. */
  advance(claim: Claimed<number>, change: ExecutionChange): Promise<boolean>;
  /** Stores a change as `advance` does, and ends the claim. */
  release(claim: Claimed<number>, change?: ExecutionChange): Promise<boolean>;
  /** Reads the ids of the executions that can be taken over, in batches. */
  abandoned(): AsyncIterable<number>;
  /**
   * Reads the ids of the intents whose time for the execution by the system has come. Units: Unix seconds.
   */
  due(now: number): AsyncIterable<number>;
  /** Ends the wait for the execution of an intent by the system, unless it was proposed for another time meanwhile. */
  cancelAutomatic(intent: Pick<IntentState, 'id' | 'autoExecuteAt'>): Promise<void>;
}

/** The time for which a claim lasts without being renewed. */
const leaseMs = 15_000;
/** The interval at which the claim of a running execution is renewed. */
export const renewMs = 5_000;
const batchSize = 50;
const { READY } = TicketIntentStatus;

/** Opens the executions on a connection. */
export function executionStore(connection: Connection): ExecutionStore {
  const intents = intentCollection(connection);
  const leases = openLeases<IntentDocument>(intents, { connection, durationMs: leaseMs });
  const toClaimed = (document: (IntentDocument & { lease: { owner: string } }) | undefined) =>
    document && { intent: fromDocument(document), claim: { id: document._id, owner: document.lease.owner } };
  /**
   * Reads ids in batches, because work on one can take longer than a cursor lives. `hint` names the index of the
   * filter.
   */
  async function* readIds(filter: object, hint: Record<string, 1>): AsyncGenerator<number> {
    const batchAfter = (last: number) =>
      intents
        .find({ ...filter, _id: { $gt: last } }, { projection: { _id: 1 } })
        .hint(hint)
        .sort({ _id: 1 })
        .limit(batchSize)
        .toArray();
    for (let last: number | undefined = 0; last !== undefined; ) {
      const after: number = last;
      const batch = await storeCall(() => batchAfter(after));
      for (const { _id } of batch) yield _id;
      last = batch[batchSize - 1]?._id;
    }
  }
  return {
    begin: (id, execution) =>
      storeCall(async () => {
        const set = { execution: JSON.stringify(execution), txId: execution.txId };
        return toClaimed(await leases.claim({ _id: id, status: READY, execution: null }, { set }));
      }),
    takeOver: (id) => storeCall(async () => toClaimed(await leases.claim({ _id: id, execution: { $gt: '' } }))),
    renew: (claim) => storeCall(() => leases.renew(claim)),
    advance: (claim, change) => storeCall(() => leases.renew(claim, toFields(change))),
    release: (claim, change = {}) => storeCall(() => leases.release(claim, toFields(change))),
    abandoned: () => readIds({ execution: { $gt: '' }, ...leases.isFree() }, { 'lease.expiresAt': 1 }),
    due: (now) =>
      readIds({ autoExecuteAt: { $gte: 0, $lte: now }, status: READY, execution: null }, { autoExecuteAt: 1 }),
    cancelAutomatic: ({ id, autoExecuteAt }) =>
      storeCall(async () => {
        await intents.updateOne(
          { _id: id, autoExecuteAt, status: READY, execution: null },
          { $set: { autoExecuteAt: null } },
        );
      }),
  };
}

function toFields({ execution, outcome, ...fields }: ExecutionChange) {
  const texts = outcome && outcomeToTexts(outcome);
  return {
    ...fields,
    ...(execution === undefined ? {} : { execution: execution && JSON.stringify(execution) }),
    ...(texts === undefined ? {} : { ...texts, outcomeBytes: jsonWeight(texts.outcome) }),
  };
}
