import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { ApplyAnalysisRequest } from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { ConfidenceColor } from '@ticketing/contracts/ticketing/tickets/v1/intent_pb.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import type { Connection } from 'mongoose';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type IntentStore, intentStore } from '../intent/store.ts';
import { applyResults } from './apply-results.ts';
import type { AttemptOutcome } from './metrics.ts';
import type { AnalysisContext } from './open.ts';
import { type AnalysisStore, analysisStore } from './queue-store.ts';
import type { AnalysisMode } from './rules/analysis-mode.ts';
import type { AnalysisResult } from './rules/analysis-result.ts';
import { runAnalyses } from './run-analyses.ts';

let connection: Connection;
let analyses: AnalysisStore;
let intents: IntentStore;
/** The requests that the tickets service has received, by the ids of the analyses. */
let sent: Map<string, ApplyAnalysisRequest[]>;
let computed: number;

beforeAll(async () => {
  connection = await testDatabase();
  analyses = analysisStore(connection, randomUUID);
  intents = intentStore(connection, { among: async () => new Set() });
});
beforeEach(async () => {
  sent = new Map();
  computed = 0;
  await connection.collection('analyses').deleteMany({});
});

/** A result that differs from all others, with a proposal. */
function nextResult(): AnalysisResult {
  computed += 1;
  const proposal = {
    ...{ aiAgentId: 4, code: 'c', name: 'n', contractId: null, confidence: 0.9, messagePreview: null, recipient: null },
    ...{ confidenceColor: ConfidenceColor.SUCCESS, data: { computed }, options: [], infos: [], autoExecuteAt: null },
  };
  const text = { languageCode: 'de', sentiment: null, summary: `summary ${computed}` };
  return {
    ...{ ticketVersion: 1, isRefresh: false, restarts: false, tagIds: [], isSpam: null },
    ...{ text, proposals: [proposal] },
  };
}

const applyAnalyses = async ({ analyses: requests = [] }: { analyses?: unknown[] }) => {
  for (const request of requests as ApplyAnalysisRequest[]) {
    sent.set(request.analysisId, [...(sent.get(request.analysisId) ?? []), request]);
  }
  return { analyses: requests.map(() => ({ version: 2 })) };
};

function makeContext(): AnalysisContext {
  return {
    analyses,
    async compute(_call, asked, settle) {
      for (const one of asked) await settle(one, Promise.resolve(nextResult()));
    },
    apply: (call, results) =>
      applyResults({ intents, analysis: () => ({ applyAnalyses: applyAnalyses as never }) }, call, results),
    countAttempt: () => undefined,
    signals: new EventEmitter(),
    awaited: new Set(),
    stopping: new AbortController().signal,
    log: createLogger('test', 'silent'),
  };
}

/** Makes the analyses that are due. */
async function runDue(): Promise<AttemptOutcome[]> {
  const outcomes: AttemptOutcome[] = [];
  const claimed = await analyses.claim(10);
  await runAnalyses(makeContext(), claimed, new AbortController().signal, (outcome) => outcomes.push(outcome));
  return outcomes;
}

const queue = (ticketIds: readonly number[]) =>
  analyses.request(ticketIds.map((ticketId) => ({ ticketId, mode: 'created' as const })));
const expireLeases = () =>
  connection.collection('analyses').updateMany({ lease: { $ne: null } }, { $set: { 'lease.expiresAt': new Date(0) } });

// guarantee: F29
test('analyses that are made together are each applied with one result, wherever the process dies', async () => {
  let first = 100;
  const writes = await crashAtEachWrite(async (nth, when) => {
    sent.clear();
    first += 10;
    const ticketIds = [first, first + 1, first + 2];
    await queue(ticketIds);
    const hasCrashed = await crashAtWrite(nth, when, runDue);
    await expireLeases();
    while ((await analyses.size()).queued > 0) {
      await runDue();
      await expireLeases();
    }
    expect([...sent.values()].flat().map(({ ticketId }) => ticketId)).toEqual(expect.arrayContaining(ticketIds));
    expect(sent.size).toBe(ticketIds.length);
    for (const requests of sent.values()) {
      const [summary, ...others] = new Set(requests.map(({ text }) => text?.summary));
      expect([summary, others]).toEqual([expect.stringContaining('summary'), []]);
    }
    const { intents: stored } = await intents.ofTickets(ticketIds, 1_000_000);
    expect(ticketIds.map((id) => stored.get(id)?.length)).toEqual([1, 1, 1]);
    return hasCrashed;
  });
  // The claim, the results, the intents and their ids, the end.
  expect(writes).toBeGreaterThanOrEqual(4);
});

test('processes that claim at the same time share what is due', async () => {
  await queue(Array.from({ length: 30 }, (_, nth) => 1_000 + nth));
  const claims = await Promise.all(Array.from({ length: 5 }, () => analyses.claim(10)));
  const ids = claims.flat().map(({ ticketId }) => ticketId);
  expect(ids.length).toBeGreaterThanOrEqual(10);
  expect(new Set(ids).size).toBe(ids.length);
});

test('imported tickets come after all others, and last if they are asked for', async () => {
  const request = (ticketId: number, ...modes: AnalysisMode[]) =>
    analyses.request(modes.map((mode) => ({ ticketId, mode })));
  const claim = async (limit: number, imported?: boolean) => {
    const claimed = await analyses.claim(limit, imported === undefined ? {} : { imported });
    await analyses.finish(claimed);
    return claimed.map(({ ticketId, modes }) => [ticketId, modes.join()]);
  };
  await request(4_000, 'created', 'imported');
  await request(4_001, 'created', 'imported');
  await request(4_002, 'created');
  // A person reads it meanwhile.
  await request(4_001, 'first');
  expect((await claim(10, false)).sort()).toEqual([
    [4_001, 'created,imported,first'],
    [4_002, 'created'],
  ]);
  await request(4_003, 'created');
  expect(await claim(1)).toEqual([[4_003, 'created']]);
  expect(await claim(10)).toEqual([[4_000, 'created,imported']]);
});

test('results of claims that another process has are not kept', async () => {
  await queue([2_000, 2_001]);
  const claimed = await analyses.claim(10);
  await connection.collection('analyses').updateOne({ _id: 2_000 as never }, { $set: { 'lease.owner': 'other' } });
  const kept = await analyses.keepResults(claimed.map((one) => ({ claimed: one, result: nextResult() })));
  expect(kept.map((one) => one.claimed.ticketId)).toEqual([2_001]);
  await analyses.finish(claimed);
  expect(await connection.collection('analyses').distinct('_id')).toEqual([2_000]);
});

test('an analysis that is requested again while it is made is made once more', async () => {
  await queue([3_000, 3_001]);
  const claimed = await analyses.claim(10);
  await queue([3_000]);
  await analyses.finish(claimed);
  const [again, ...others] = await analyses.claim(10);
  expect([again?.ticketId, again?.attempts, others]).toEqual([3_000, 1, []]);
});
