import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { retryUpsert, storeCall } from '@ticketing/store/document/store-error.ts';
import { type Claimed, type Leased, openLeases } from '@ticketing/store/leases/lease.ts';
import type { Connection, mongo } from 'mongoose';
import type { AnalysisMode } from './rules/analysis-mode.ts';
import type { AnalysisResult } from './rules/analysis-result.ts';

/** An analysis that only this process makes, until its lease expires. */
export interface ClaimedAnalysis {
  ticketId: number;
  /** Names the analysis: it stays the same until it is applied, whichever processes attempt it. */
  runId: string;
  modes: readonly AnalysisMode[];
  /** The result of an earlier attempt. */
  result: AnalysisResult | null;
  /** The number of attempts including this one, without attempts that another service has prevented. */
  attempts: number;
  claim: Claimed<number>;
}

/** The number of analyses that wait or run, since when the oldest does (Unix ms), and the number given up. */
export interface AnalysisQueueSize {
  queued: number;
  oldestAt: number | undefined;
  givenUp: number;
}

/**
 * The queue of analyses, with one entry for each ticket that has any. Errors of every operation: store_unavailable.
 *
 * Source: docs/reference/guarantees.md, Faults.
 */
export interface AnalysisStore {
  /**
   * Queues analyses. A mode that waits already is not queued twice; one that is running is made once more afterwards.
   * An analysis that was given up is attempted again.
   */
  request(requests: readonly { ticketId: number; mode: AnalysisMode }[]): Promise<void>;
  /** Claims the analysis that has been due for the longest time, or the one of `ticketId`; undefined if none is due. */
  claim(ticketId?: number): Promise<ClaimedAnalysis | undefined>;
  renew(claim: Claimed<number>): Promise<boolean>;
  /** Stores the result, so that every later attempt applies the same. Returns false if the claim is lost. */
  keepResult(claim: Claimed<number>, result: AnalysisResult): Promise<boolean>;
  /** Ends an analysis that is applied, or not necessary. */
  finish(claim: Claimed<number>): Promise<void>;
  /** Ends an attempt that has failed. */
  retry(claimed: ClaimedAnalysis, retry: { error: string; delayMs: number; counts: boolean }): Promise<void>;
  /** Stops attempting an analysis until another one of the ticket is requested. */
  giveUp(claimed: ClaimedAnalysis, error: string): Promise<void>;
  /** Whether the analysis of a ticket waits or runs, and was not given up. */
  isPending(ticketId: number): Promise<boolean>;
  size(): Promise<AnalysisQueueSize>;
  erase(ticketIds: readonly number[]): Promise<void>;
}

interface AnalysisDocument extends Leased<number> {
  /** The modes that were requested and have not begun. */
  requested: AnalysisMode[];
  requestedAt: Date;
  /** Null: it was given up. */
  nextAttemptAt: Date | null;
  attempts: number;
  lastError: string | null;
  run: { id: string; modes: AnalysisMode[]; result: string | null } | null;
}

type Analyses = mongo.Collection<AnalysisDocument>;

const leaseMs = 20_000;

function analysisCollection(connection: Connection): Analyses {
  return openCollection<AnalysisDocument>(connection, 'analyses');
}

/** Builds the missing indexes of the queue. */
export async function buildAnalysisIndexes(connection: Connection): Promise<void> {
  await analysisCollection(connection).createIndex({ nextAttemptAt: 1 });
}

/** Opens the queue on a connection. */
export function analysisStore(connection: Connection, newRunId: () => string): AnalysisStore {
  const analyses = analysisCollection(connection);
  const leases = openLeases<AnalysisDocument>(analyses, { connection, durationMs: leaseMs });
  const at = (delayMs = 0) => new Date(serverTime(connection) + delayMs);
  return {
    request: (requests) => storeCall(() => request(analyses, requests, at())),
    claim: (ticketId) =>
      storeCall(async () => {
        const isDue = { ...(ticketId === undefined ? {} : { _id: ticketId }), nextAttemptAt: { $lte: at() } };
        const document = await leases.claim(isDue, { sort: { nextAttemptAt: 1 }, increment: { attempts: 1 } });
        if (!document) return undefined;
        const claim = { id: document._id, owner: document.lease.owner };
        const run = document.run ?? { id: newRunId(), modes: document.requested, result: null };
        // Modes that are requested from now on may not be seen by this run.
        const begin = { $set: { run }, $pullAll: { requested: run.modes } };
        if (!document.run && (await analyses.updateOne(leases.isHeld(claim), begin)).matchedCount === 0)
          return undefined;
        const result = run.result === null ? null : (JSON.parse(run.result) as AnalysisResult);
        return { ticketId: document._id, runId: run.id, modes: run.modes, result, attempts: document.attempts, claim };
      }),
    renew: (claim) => storeCall(() => leases.renew(claim)),
    keepResult: (claim, result) => storeCall(() => leases.renew(claim, { 'run.result': JSON.stringify(result) })),
    finish: (claim) =>
      storeCall(async () => {
        const { deletedCount } = await analyses.deleteOne({ ...leases.isHeld(claim), requested: { $size: 0 } });
        if (deletedCount === 1) return;
        const next = { run: null, attempts: 0, lastError: null, requestedAt: at(), nextAttemptAt: at() };
        await leases.release(claim, next);
      }),
    retry: ({ claim, attempts }, { error, delayMs, counts }) =>
      storeCall(async () => {
        const lost = counts ? { 'run.result': null } : { attempts: attempts - 1 };
        await leases.release(claim, { nextAttemptAt: at(delayMs), lastError: error, ...lost });
      }),
    giveUp: ({ claim, modes }, error) =>
      storeCall(async () => {
        const ended = { run: null, lastError: error, lease: null };
        // The next request begins a new run, which includes the modes of this one.
        const again = { $addToSet: { requested: { $each: [...modes] } } };
        const isAlone = { ...leases.isHeld(claim), requested: { $size: 0 } };
        const givenUp = { $set: { ...ended, nextAttemptAt: null }, ...again };
        if ((await analyses.updateOne(isAlone, givenUp)).matchedCount === 1) return;
        const requestedMeanwhile = { $set: { ...ended, nextAttemptAt: at(), attempts: 0 }, ...again };
        await analyses.updateOne(leases.isHeld(claim), requestedMeanwhile);
      }),
    isPending: (ticketId) =>
      storeCall(async () => {
        return (await analyses.countDocuments({ _id: ticketId, nextAttemptAt: { $ne: null } }, { limit: 1 })) > 0;
      }),
    size: () => storeCall(() => size(analyses)),
    erase: async (ticketIds) => {
      if (ticketIds.length === 0) return;
      await storeCall(() => analyses.deleteMany({ _id: { $in: [...ticketIds] } }));
    },
  };
}

async function request(
  analyses: Analyses,
  requests: readonly { ticketId: number; mode: AnalysisMode }[],
  now: Date,
): Promise<void> {
  const initial = { requestedAt: now, lastError: null, run: null, lease: null };
  const writes = [...Map.groupBy(requests, ({ ticketId }) => ticketId)].map(([_id, some]) => ({
    updateOne: {
      filter: { _id },
      update: {
        $addToSet: { requested: { $each: some.map(({ mode }) => mode) } },
        $set: { nextAttemptAt: now, attempts: 0 },
        $setOnInsert: initial,
      },
      upsert: true,
    },
  }));
  if (writes.length > 0) await retryUpsert(() => analyses.bulkWrite(writes, { ordered: false }));
}

async function size(analyses: Analyses): Promise<AnalysisQueueSize> {
  const [givenUp, queued, oldest] = await Promise.all([
    analyses.countDocuments({ nextAttemptAt: null }),
    analyses.countDocuments({ nextAttemptAt: { $ne: null } }),
    analyses
      .find({ nextAttemptAt: { $ne: null } })
      .sort({ requestedAt: 1 })
      .limit(1)
      .toArray(),
  ]);
  return { queued, oldestAt: oldest[0]?.requestedAt.getTime(), givenUp };
}
