import mongoose from 'mongoose';
import { changeSteadily, changesPerSecond } from './changes.ts';
import { fill, toId } from './dataset.ts';
import { waitForEmptyOutboxes, waitForRows } from './events.ts';
import { type BenchPlan, quantile, send } from './load.ts';
import { readCpuSeconds, watchMemory } from './process-figures.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';
import { openEndpoints, type WebhookEndpoints } from './webhook-endpoints.ts';
import { monotonicMs, receivedKey, startReceivers, type WebhookReceivers } from './webhook-receivers.ts';

interface Setting extends BenchPlan {
  system: BenchSystem;
  receivers: WebhookReceivers;
  endpoints: WebhookEndpoints;
  client: mongoose.mongo.MongoClient;
  /** Takes numbers for changes, of which no two are the same. Returns the first. */
  takeNumbers(count: number): number;
}

const ticketCount = 1_000;
const endpointCount = 20;
/** Changes that lead to a backlog, each of another ticket. */
const backlogChanges = 1_000;
/** Low enough that 20 endpoints do not use all processors. */
const changesPerSecondForMany = 10;
const warmUpSeconds = 5;
/** Too short for as many failures as pause an endpoint. */
const hangingRounds = 2;

/** Measures how soon and how fast webhooks are delivered, and what an endpoint that hangs costs the others. */
export async function measureWebhooks(system: BenchSystem, plan: BenchPlan): Promise<Figure[]> {
  plan.progress(`${ticketCount} tickets are being created`);
  await fill(system.mongodbUri, ticketCount);
  const connection = await mongoose.createConnection(system.mongodbUri).asPromise();
  const receivers = await startReceivers(endpointCount);
  const endpoints = openEndpoints(system);
  let changes = 0;
  const setting: Setting = {
    ...plan,
    system,
    receivers,
    endpoints,
    client: connection.getClient(),
    takeNumbers(count) {
      changes += count;
      return changes - count;
    },
  };
  try {
    const memory: Record<string, number> = {};
    const watched = async (name: string, measure: (setting: Setting) => Promise<Figure>) => {
      const watch = watchMemory(system.service('settings').pid);
      const result = await measure(setting).finally(() => {
        memory[name] = watch.stop().peak / 1e6;
      });
      await endpoints.removeAll();
      return result;
    };
    const figures = [
      await watched('latency', measureLatencyOfOne),
      await watched('deliveries', measureBacklogOfDeliveries),
      await watched('events', measureBacklogOfEvents),
      await watched('hanging', measureHanging),
    ];
    return [
      ...figures,
      {
        name: 'webhooks: highest resident memory of settings meanwhile, MB',
        value: Math.max(...Object.values(memory)),
        details: memory,
        goal: { atMost: 200 },
      },
    ];
  } finally {
    receivers.stop();
    await connection.close();
  }
}

async function measureLatencyOfOne(setting: Setting): Promise<Figure> {
  setting.progress(`a webhook for each of ${changesPerSecond} changes/s`);
  await setting.endpoints.create(setting.receivers.urls.slice(0, 1));
  const latencies = await measureLatencies(setting, [0], changesPerSecond);
  return {
    name: `webhooks: from the response to a change until it is received, p99 at ${changesPerSecond}/s, ms`,
    value: quantile(latencies, 0.99),
    details: { p50: quantile(latencies, 0.5), p95: quantile(latencies, 0.95) },
    goal: { atMost: 1000 },
  };
}

/** Measures with and without in turn, so that both meet the same load of other programs on the machine. */
async function measureHanging(setting: Setting): Promise<Figure> {
  const { receivers, endpoints, progress } = setting;
  const rate = changesPerSecondForMany;
  await endpoints.create(receivers.urls);
  const others = receivers.urls.map((_, endpoint) => endpoint).slice(1);
  const without: number[] = [];
  const during: number[] = [];
  for (let round = 1; round <= hangingRounds; round++) {
    progress(`${endpointCount} endpoints, ${rate} changes/s`);
    await receivers.hang(undefined);
    without.push(...(await measureLatencies(setting, others, rate)));
    progress('one of them hangs');
    await receivers.hang(0);
    during.push(...(await measureLatencies(setting, others, rate)));
    const hasResponded = [...receivers.received.values()].some(({ endpoint }) => endpoint === 0);
    if (hasResponded) throw new Error('The endpoint that should hang has responded.');
  }
  await receivers.hang(undefined);
  const details = { duringMs: quantile(during, 0.99), withoutMs: quantile(without, 0.99) };
  return {
    name: `webhooks: p99 of ${others.length} endpoints at ${rate}/s while another one hangs / without it`,
    value: details.duringMs / details.withoutMs,
    details,
    goal: { atMost: 1.5 },
  };
}

/** Measures the time from the response to each change until it is received, in ms. Errors: a change failed. */
async function measureLatencies(setting: Setting, endpoints: readonly number[], rate: number): Promise<number[]> {
  await receiveChanges(setting, endpoints, { rate, seconds: warmUpSeconds });
  return receiveChanges(setting, endpoints, { rate, seconds: Math.max(20, setting.seconds) });
}

async function receiveChanges(
  { system, receivers, takeNumbers }: Setting,
  endpoints: readonly number[],
  { rate, seconds }: { rate: number; seconds: number },
): Promise<number[]> {
  receivers.forget();
  const expected: { key: string; changedAt: number }[] = [];
  const plan = { rate, seconds, tickets: ticketCount, from: takeNumbers(rate * seconds), toBody: otherContract };
  const { failed } = await changeSteadily(system, plan, (ticketId, version) => {
    const changedAt = monotonicMs();
    for (const endpoint of endpoints) expected.push({ key: receivedKey({ endpoint, ticketId, version }), changedAt });
  });
  if (failed > 0) throw new Error(`${failed} changes failed.`);
  await receivers.until(() => expected.every(({ key }) => receivers.received.has(key)), 'all webhooks are received');
  return expected.map(({ key, changedAt }) => Math.max(0, (receivers.received.get(key)?.at ?? Number.NaN) - changedAt));
}

/** Measures the rate at which deliveries are made that have piled up while the endpoints were paused. */
async function measureBacklogOfDeliveries(setting: Setting): Promise<Figure> {
  const { endpoints, receivers, client, progress } = setting;
  const count = backlogChanges * endpointCount;
  progress(`a backlog of ${count} deliveries`);
  await endpoints.create(receivers.urls, 'paused');
  await makeBacklog(setting);
  const deliveries = client.db('ticketing_settings').collection('webhookDeliveries');
  const webhookId = { $in: endpoints.ids() };
  const areStored = async () => (await deliveries.countDocuments({ webhookId })) >= count;
  await receivers.until(areStored, 'all deliveries are stored');
  return measureRate(setting, 'deliveries', () => endpoints.activate());
}

/** Measures the rate at which events become deliveries, and these are made, after the service was unavailable. */
async function measureBacklogOfEvents(setting: Setting): Promise<Figure> {
  const { endpoints, receivers, system, progress } = setting;
  const { pid } = system.service('settings');
  progress(`a backlog of ${backlogChanges} events`);
  await endpoints.create(receivers.urls);
  process.kill(pid, 'SIGSTOP');
  try {
    await makeBacklog(setting);
    return await measureRate(setting, 'events', async () => void process.kill(pid, 'SIGCONT'));
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** Changes each ticket once, and waits until the other services have nothing to do. */
async function makeBacklog({ system, client, receivers, takeNumbers }: Setting): Promise<void> {
  const tickets = client.db('ticketing_tickets');
  await waitForEmptyOutboxes(tickets.collection<{ _id: number }>('tickets'));
  receivers.forget();
  const nextRequest = () => {
    const index = takeNumbers(1);
    return { method: 'PATCH' as const, path: `/ticket/${toId(index % ticketCount)}`, body: otherContract(index) };
  };
  await send(system, nextRequest, { requests: backlogChanges, connections: 8 });
  await waitForRows(system, tickets);
}

async function measureRate({ receivers, system }: Setting, of: string, start: () => Promise<void>): Promise<Figure> {
  const { pid } = system.service('settings');
  const count = backlogChanges * endpointCount;
  const cpuBefore = readCpuSeconds(pid);
  await start();
  await receivers.until(() => receivers.received.size >= count, `all of a backlog of ${of} is delivered`);
  const cpuMs = ((readCpuSeconds(pid) - cpuBefore) * 1000) / count;
  const times = [...receivers.received.values()].map(({ at }) => at);
  const seconds = (times.reduce(max) - times.reduce(min)) / 1000;
  return {
    name: `webhooks: deliveries/s from a backlog of ${of}, ${endpointCount} endpoints, one process`,
    value: (count - 1) / seconds,
    details: { cpuMsPerDelivery: cpuMs },
    goal: { atLeast: 500 },
  };
}

const min = (left: number, right: number) => Math.min(left, right);
const max = (left: number, right: number) => Math.max(left, right);

/** A different contract for each index, so that each change leads to an event. */
function otherContract(index: number): object {
  return { contractId: `bench-${index}` };
}
