import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { retryUpsert, storeCall } from '@ticketing/store/document/store-error.ts';
import { type Claimed, type Lease, type Leased, openLeases, type ReadClaim } from '@ticketing/store/leases/lease.ts';
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

/** A claimed analysis, and what it has found. */
export interface WithResult {
  claimed: ClaimedAnalysis;
  result: AnalysisResult;
}

/** The number of analyses that wait or run, since when the oldest that is no import does (Unix ms), and the number given up. */
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
  /**
   * Claims the analyses that have been due for the longest time, or the one of `ticketId`, all with one owner. Imported
   * tickets come after all others; without `imported`, they are left out.
   */
  claim(limit: number, options?: { ticketId?: number; imported?: boolean }): Promise<ClaimedAnalysis[]>;
  renew(claimed: readonly ClaimedAnalysis[]): Promise<void>;
  /** Stores results, so that every later attempt applies the same. Returns those whose claims are not lost. */
  keepResults<Kept extends WithResult>(results: readonly Kept[]): Promise<Kept[]>;
  /** Ends analyses that are applied, or not necessary. */
  finish(claimed: readonly ClaimedAnalysis[]): Promise<void>;
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
  /** Whether the ticket was imported. Documents of earlier versions do not have it. */
  isImport?: boolean | null;
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
  await analysisCollection(connection).createIndex({ isImport: 1, nextAttemptAt: 1 });
}

/** Opens the queue on a connection. */
export function analysisStore(connection: Connection, newRunId: () => string): AnalysisStore {
  const analyses = analysisCollection(connection);
  const leases = openLeases<AnalysisDocument>(analyses, { connection, durationMs: leaseMs });
  const at = (delayMs = 0) => new Date(serverTime(connection) + delayMs);
  const areHeld = (claimed: readonly ClaimedAnalysis[]) => ({
    _id: { $in: claimed.map(({ ticketId }) => ticketId) },
    'lease.owner': claimed[0]?.claim.owner ?? '',
  });
  /** Begins the run of an analysis that has none. Modes that are requested from then on may not be seen by it. */
  const beginRun = ({ run, requested }: AnalysisDocument): ReadClaim => ({
    ...(run
      ? { isUnchanged: { requested, 'run.id': run.id } }
      : {
          isUnchanged: { requested, run: null },
          set: { run: { id: newRunId(), modes: requested, result: null }, requested: [] },
        }),
    increment: { attempts: 1 },
  });
  return {
    request: (requests) => storeCall(() => request(analyses, requests, at())),
    claim: (limit, { ticketId, imported = true } = {}) =>
      storeCall(async () => {
        const isDue = { nextAttemptAt: { $lte: at() } };
        const filter = {
          ...isDue,
          ...(ticketId === undefined ? {} : { _id: ticketId }),
          ...(imported ? {} : isNoImport),
        };
        const sort = { isImport: 1, nextAttemptAt: 1 } as const;
        return (await leases.claimSome(filter, { sort, limit }, beginRun)).flatMap(toClaimed);
      }),
    renew: (claimed) =>
      storeCall(async () => {
        const { expiresAt } = leases.begin();
        await analyses.updateMany(areHeld(claimed), { $set: { 'lease.expiresAt': expiresAt } });
      }),
    keepResults: (results) =>
      storeCall(async () => {
        const [first] = results;
        if (!first) return [];
        const { expiresAt } = leases.begin();
        const writes = results.map(({ claimed: { claim }, result }) => ({
          updateOne: {
            filter: leases.isHeld(claim),
            update: { $set: { 'run.result': JSON.stringify(result), 'lease.expiresAt': expiresAt } },
          },
        }));
        const { matchedCount } = await analyses.bulkWrite(writes, { ordered: false });
        if (matchedCount === results.length) return [...results];
        const ids = results.map(({ claimed }) => claimed.ticketId);
        const held = await leases.heldBy(first.claimed.claim.owner, ids);
        return results.filter(({ claimed }) => held.has(claimed.ticketId));
      }),
    finish: (claimed) =>
      storeCall(async () => {
        if (claimed.length === 0) return;
        const { deletedCount } = await analyses.deleteMany({ ...areHeld(claimed), requested: { $size: 0 } });
        if (deletedCount === claimed.length) return;
        // The others were requested again meanwhile, or another process has claimed them.
        const next = { run: null, attempts: 0, lastError: null, requestedAt: at(), nextAttemptAt: at(), lease: null };
        await analyses.updateMany(areHeld(claimed), { $set: next });
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

function toClaimed({ _id: id, run, attempts, lease }: AnalysisDocument & { lease: Lease }): ClaimedAnalysis[] {
  if (!run) return [];
  const result = run.result === null ? null : (JSON.parse(run.result) as AnalysisResult);
  const claim = { id, owner: lease.owner };
  return [{ ticketId: id, runId: run.id, modes: run.modes, attempts, claim, result }];
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
        $set: { nextAttemptAt: now, attempts: 0, isImport: some.at(-1)?.mode === 'imported' },
        $setOnInsert: initial,
      },
      upsert: true,
    },
  }));
  if (writes.length > 0) await retryUpsert(() => analyses.bulkWrite(writes, { ordered: false }));
}

const isNoImport = { isImport: { $ne: true } };
/** Matches all documents, so that the index on both fields is used. */
const isAny = { isImport: { $in: [true, false, null] } };

async function size(analyses: Analyses): Promise<AnalysisQueueSize> {
  const [givenUp, queued, oldest] = await Promise.all([
    analyses.countDocuments({ ...isAny, nextAttemptAt: null }),
    analyses.countDocuments({ ...isAny, nextAttemptAt: { $ne: null } }),
    analyses
      .find({ ...isNoImport, nextAttemptAt: { $ne: null } })
      .sort({ requestedAt: 1 })
      .limit(1)
      .toArray(),
  ]);
  return { queued, oldestAt: oldest[0]?.requestedAt.getTime(), givenUp };
}
