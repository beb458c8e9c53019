import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { measureLongestWork } from '@ticketing/testkit/measure.ts';
import { openBuiltinDetection } from '../services/intents/src/detection/builtin.ts';
import type { DetectionRequest } from '../services/intents/src/detection/provider.ts';
import { extractFeatures } from '../services/intents/src/learning/features.ts';
import { serialiseModel } from '../services/intents/src/learning/model-codec.ts';
import { train } from '../services/intents/src/learning/train.ts';
import type { BareExecution } from './bare-intent-routes.ts';
import type { BareProcess } from './bare-process.ts';
import { readTexts, type Texts } from './dataset.ts';
import { type BenchPlan, call, compareWithBare, type NextRequest, quantile } from './load.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

/** The names of the measurements of intents on the command line. */
export const intentNames = ['analysis', 'execute'] as const;

const textCount = 500;
const exampleCount = 1_000;
const learnedTags = 40;
const blockedGoalMs = 20;
const analysisGoalMs = 20;
const ticketCount = 100;

/** Measures the analysis of tickets, and the execution of intents as a share of a bare route. */
export async function measureIntents(system: BenchSystem, bare: BareProcess, plan: BenchPlan): Promise<Figure[]> {
  const figures: Figure[] = [];
  if (plan.only.includes('analysis')) {
    plan.progress('analyses of tickets');
    figures.push(...(await measureAnalyses()));
  }
  if (plan.only.includes('execute')) figures.push(await measureExecutions(system, bare, plan));
  return figures;
}

/** How long analyses take by a model that has learned 40 tags, and for how long they block the process that asks for them. */
async function measureAnalyses(): Promise<Figure[]> {
  const texts = await readTexts();
  const bytes = trainModel(texts.slice(0, exampleCount));
  const models = { current: async () => ({ version: 1, bytes }), discard: async () => undefined };
  const detection = openBuiltinDetection(createLogger('bench', 'silent'), models);
  const { signal } = new AbortController();
  const requests = Array.from({ length: textCount }, (_, nth) => toRequest(texts.at(-1 - (nth % texts.length)), nth));
  // A sandbox alone does not keep its process from ending.
  const isBusy = setInterval(() => undefined, 1_000);
  const [first] = requests;
  // The first one starts the worker, which loads the model.
  if (first) await detection.detect(first, signal);
  const taken: number[] = [];
  for (const request of requests) {
    const startedAt = performance.now();
    await detection.detect(request, signal);
    taken.push(performance.now() - startedAt);
  }
  const blockedMs = await measureLongestWork(async () => {
    await Promise.all(requests.slice(0, 50).map((request) => detection.detect(request, signal)));
  });
  await detection.close();
  clearInterval(isBusy);
  const at = (share: number) => quantile(taken, share);
  return [
    {
      name: `analysis of a ticket by builtin, model of ${learnedTags} tags and ${bytes.length} bytes, p95 in ms`,
      value: at(0.95),
      details: { p50Ms: at(0.5), p99Ms: at(0.99) },
      goal: { atMost: analysisGoalMs },
    },
    {
      name: '50 analyses at once: longest work of the process that serves the API, in ms',
      value: blockedMs,
      goal: { atMost: blockedGoalMs },
    },
  ];
}

function trainModel(texts: readonly Texts[]): Uint8Array {
  const examples = texts.map((text, nth) => ({
    features: extractFeatures(text),
    tagIds: [1 + (nth % learnedTags)],
    isSpam: nth % 10 === 0,
  }));
  return serialiseModel(train(examples));
}

function toRequest(text: Texts = { subject: '', body: '' }, nth: number): DetectionRequest {
  return {
    ticketId: nth + 1,
    text,
    channel: Channel.EMAIL,
    tags: Array.from({ length: learnedTags }, (_, id) => ({ id: id + 1, name: `tag ${id + 1}`, keywords: ['urgent'] })),
    keywords: ['invoice', 'refund', 'meter reading'],
  };
}

/** Intents that are created and executed at a backend system; the bare route makes the same writes and the same call. */
async function measureExecutions(system: BenchSystem, bare: BareProcess, plan: BenchPlan): Promise<Figure> {
  const backend = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}/`;
  const post = <Result>(path: string, body: object) => call<Result>(system, { method: 'POST', path, body });
  const options = [{ type: 'enter', name: 'Enter', recommended: true, order: 1 }];
  const agent = { name: 'Bench', options, executor: { type: 'http', url } };
  const { slug: code } = await post<{ slug: string }>('/aiAgent', agent);
  const ids: number[] = [];
  for (let nth = 0; nth < ticketCount; nth++) ids.push((await post<{ id: number }>('/ticket', { channel: 'chat' })).id);
  let nth = 0;
  const nextId = () => ids[nth++ % ids.length] ?? 0;
  const next: NextRequest = () => ({ method: 'POST', path: '/intent/0/execute', body: { code, ticketId: nextId() } });
  const bareBody = (): BareExecution => ({ ticketId: nextId(), url });
  const nextBare: NextRequest = () => ({ method: 'POST', path: '/intent/execute', body: bareBody() });
  const name = 'POST /intent/0/execute by HTTP / bare route with the same writes and the same call';
  const figure = await compareWithBare({ name, showsLatency: true }, [system, next], [bare, nextBare], plan);
  backend.close();
  // Requests that are in flight at the end go on for a moment.
  await sleep(500);
  return figure;
}
