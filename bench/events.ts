import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '@ticketing/testkit/free-port.ts';
import mongoose from 'mongoose';
import { serviceProgram } from '../tools/dev/services.ts';
import { waitUntilReady } from '../tools/dev/wait-until-ready.ts';
import { changeSteadily, changesPerSecond, statuses, watchRows } from './changes.ts';
import { toId } from './dataset.ts';
import { type BenchPlan, measureLatency, quantile } from './load.ts';
import { readResidentBytes } from './process-figures.ts';
import { type BenchSystem, internalHeaders } from './system.ts';
import type { Figure } from './table.ts';

type Database = mongoose.mongo.Db;
type Documents = mongoose.mongo.Collection<{ _id: number }>;

const backlog = 20_000;

/** Measures how soon a change appears in its row, the cost of sending events, and the cost of exports of the rows. */
export async function measureEvents(system: BenchSystem, plan: BenchPlan): Promise<Figure[]> {
  const connection = await mongoose.createConnection(system.mongodbUri).asPromise();
  const tickets = connection.getClient().db('ticketing_tickets');
  const reporting = connection.getClient().db('ticketing_reporting');
  const onKafka = system.service('tickets').environment.has('TICKETING_TICKETS_KAFKA_BROKERS');
  try {
    plan.progress('the rows catch up with earlier changes');
    await waitForRows(system, tickets);
    plan.progress('changes become visible in the rows');
    const freshness = await measureFreshness(system, reporting, plan);
    plan.progress('patches with and without relay and reporting');
    const cost = await measureRelayCost(system, plan);
    await waitForConsumer(system);
    const exports = await measureExports(system, reporting, plan);
    plan.progress(`a backlog of ${backlog} events`);
    const rate = await measureRelay(system, tickets.collection<{ _id: number }>('tickets'));
    const bus = onKafka ? 'Kafka' : 'the embedded log';
    return [
      {
        name: `from the response to a change until it is in its row, p99 at ${changesPerSecond}/s, ms, ${bus}`,
        ...freshness,
        goal: { atMost: 1000 },
      },
      {
        name: `relay, backlog of ${backlog}, events/s, ${bus}`,
        value: rate,
        ...(onKafka ? { goal: { atLeast: 2000 } } : {}),
      },
      ...cost,
      ...exports,
    ];
  } finally {
    await connection.close();
  }
}

async function measureFreshness(system: BenchSystem, reporting: Database, { seconds, tickets }: BenchPlan) {
  const rows = watchRows(reporting);
  await changeSteadily(system, { seconds: Math.max(10, seconds), tickets }, rows.expect);
  const times = await rows.finished();
  return { value: quantile(times, 0.99), details: { p50: quantile(times, 0.5), p95: quantile(times, 0.95) } };
}

/** Waits until all events have been sent and consumed. */
export async function waitForRows(system: BenchSystem, tickets: Database): Promise<void> {
  await waitForEmptyOutboxes(tickets.collection<{ _id: number }>('tickets'));
  await waitForConsumer(system);
}

/** Waits until reporting has consumed all events that were sent. */
async function waitForConsumer({ service }: BenchSystem): Promise<void> {
  const reporting = service('reporting');
  const port = reporting.environment.get('TICKETING_REPORTING_INTERNAL_PORT');
  for (let atZero = 0; atZero < 2; ) {
    await setTimeout(5_000);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    atZero = /^consumer_lag_messages\{[^}]*\} 0$/m.test(metrics) ? atZero + 1 : 0;
  }
}

/** Measures the events per second with which the relay sends a backlog. */
async function measureRelay(system: BenchSystem, tickets: Documents): Promise<number> {
  const relaying = system.service('tickets');
  const reporting = system.service('reporting');
  await waitForEmptyOutboxes(tickets);
  process.kill(relaying.pid, 'SIGSTOP');
  process.kill(reporting.pid, 'SIGSTOP');
  try {
    const event = {
      type: 'ticket.updated',
      subchannelId: null,
      occurredAt: 1_700_000_000,
      changes: { $literal: [] },
      actor: { profileId: 7, kind: 'user' },
      cause: 'request',
    };
    const version = { $add: ['$version', 1] };
    await tickets.updateMany({ _id: { $lte: backlog } }, [
      {
        $set: {
          version,
          outbox: [{ ...event, eventId: { $concat: ['evt_', { $toString: '$_id' }] }, version }],
          outboxSince: '$$NOW',
        },
      },
    ]);
    process.kill(relaying.pid, 'SIGCONT');
    const startedAt = performance.now();
    await waitForEmptyOutboxes(tickets);
    return backlog / ((performance.now() - startedAt) / 1000);
  } finally {
    process.kill(relaying.pid, 'SIGCONT');
    process.kill(reporting.pid, 'SIGCONT');
  }
}

/** Waits until all events have been sent. */
export async function waitForEmptyOutboxes(tickets: Documents): Promise<void> {
  // Counting the whole backlog would cost as much as sending a part of it, so the query looks for one ticket only.
  while (await tickets.findOne({ outboxSince: { $exists: true } }, { projection: { _id: 1 } })) await setTimeout(20);
}

/**
 * Measures the same load on the service as it runs, then with reporting paused, then on a second tickets process that
 * has no relay, with the first one paused too.
 */
async function measureRelayCost(system: BenchSystem, { seconds, tickets: rows }: BenchPlan): Promise<Figure[]> {
  const headers = await internalHeaders(system, 'tickets');
  const nextRequest = () => ({
    method: 'PATCH' as const,
    path: `/ticket/${toId(Math.floor(Math.random() * Math.min(rows, 10_000)))}`,
    body: { status: statuses[Math.floor(Math.random() * 2)] },
  });
  const p50 = async (port: string | undefined) => {
    const address = { url: `http://127.0.0.1:${port}`, headers };
    const options = { connections: 8, rate: changesPerSecond * 2 };
    await measureLatency(address, nextRequest, { ...options, seconds: 5 });
    return (await measureLatency(address, nextRequest, { ...options, seconds: Math.max(10, seconds) })).p50;
  };
  const tickets = system.service('tickets');
  const reporting = system.service('reporting');
  const port = tickets.environment.get('TICKETING_TICKETS_HTTP_PORT');
  const apiOnly = await startApiOnly(tickets.environment);
  try {
    const withReporting = await p50(port);
    process.kill(reporting.pid, 'SIGSTOP');
    const withRelay = await p50(port);
    process.kill(tickets.pid, 'SIGSTOP');
    const withoutRelay = await p50(apiOnly.port);
    const title = 'patch, p50, with the relay';
    return [
      {
        name: `${title} running / without`,
        value: withRelay / withoutRelay,
        details: { withMs: withRelay, withoutMs: withoutRelay },
        goal: { atMost: 1.3 },
      },
      { name: `${title} and reporting running / without`, value: withReporting / withoutRelay },
    ];
  } finally {
    for (const { pid } of [tickets, reporting]) process.kill(pid, 'SIGCONT');
    await apiOnly.stop();
  }
}

/** Starts a second tickets process, with the API and no other role. */
async function startApiOnly(environment: ReadonlyMap<string, string>) {
  const [http, grpc, internal] = [String(await freePort()), String(await freePort()), String(await freePort())];
  const child: ChildProcess = spawn(process.execPath, await serviceProgram('tickets'), {
    stdio: 'inherit',
    env: {
      ...Object.fromEntries(environment),
      TICKETING_TICKETS_ROLES: 'api',
      TICKETING_TICKETS_HTTP_PORT: http,
      TICKETING_TICKETS_GRPC_PORT: grpc,
      TICKETING_TICKETS_INTERNAL_PORT: internal,
    },
  });
  await waitUntilReady([`http://127.0.0.1:${http}`]);
  return {
    port: http,
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

async function measureExports(system: BenchSystem, reporting: Database, plan: BenchPlan): Promise<Figure[]> {
  plan.progress(`${plan.tickets} rows are being created`);
  const documents = await fillRows(reporting, plan.tickets);
  const stringified = stringifyRate(documents, plan.tickets);
  const figures: Figure[] = [];
  for (const format of ['csv', 'xlsx']) {
    plan.progress(`an export of ${plan.tickets} rows as ${format}`);
    const { seconds, grownBytes, loopDelayMs } = await exportAll(system, format);
    figures.push(
      {
        name: `export of ${plan.tickets} rows as ${format}: memory grows by, MB`,
        value: grownBytes / 1e6,
        goal: { atMost: 150 },
      },
      {
        name: `export of ${plan.tickets} rows as ${format}: event-loop delay p99, ms`,
        value: loopDelayMs,
        goal: { atMost: 50 },
      },
      {
        name: `export of ${plan.tickets} rows as ${format}: rows/s / JSON.stringify of the same rows`,
        value: plan.tickets / seconds / stringified,
        details: { rowsPerSecond: plan.tickets / seconds, stringifiedPerSecond: stringified },
      },
    );
  }
  return figures;
}

/** Adds copies of rows under other ids until there are enough; returns the rows that were copied. */
async function fillRows(reporting: Database, count: number): Promise<object[]> {
  const rows = reporting.collection<{ _id: number }>('rows1');
  const samples = await rows
    .find({ erasedAt: { $exists: false } })
    .limit(500)
    .toArray();
  const first = 20_000_000;
  const present = await rows.countDocuments();
  for (let at = 0; at < count - present; at += 1000) {
    const size = Math.min(1000, count - present - at);
    await rows.insertMany(
      Array.from({ length: size }, (_, index) => ({
        ...samples[(at + index) % samples.length],
        _id: first + at + index,
      })),
      { ordered: false, writeConcern: { w: 1, journal: false } },
    );
  }
  return samples;
}

function stringifyRate(samples: readonly object[], count: number): number {
  const startedAt = performance.now();
  let length = 0;
  for (let index = 0; index < count; index++) length += JSON.stringify(samples[index % samples.length]).length;
  if (length === 0) throw new Error('There are no rows.');
  return count / ((performance.now() - startedAt) / 1000);
}

async function exportAll({ url, headers, service }: BenchSystem, format: string) {
  const reporting = service('reporting');
  const before = readResidentBytes(reporting.pid);
  await reporting.loopDelayMs();
  const startedAt = performance.now();
  const accepted = await fetch(`${url}/export/reporting_tickets?all=true&format=${format}`, {
    headers: { ...headers, prefer: 'respond-async' },
  });
  const location = accepted.headers.get('location');
  let highest = before;
  for (;;) {
    const { status } = (await (await fetch(url + location, { headers })).json()) as { status: string };
    highest = Math.max(highest, readResidentBytes(reporting.pid));
    if (status === 'finished') break;
    if (status === 'failed') throw new Error(`The export as ${format} has failed.`);
    await setTimeout(100);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  return { seconds, grownBytes: highest - before, loopDelayMs: await reporting.loopDelayMs() };
}
