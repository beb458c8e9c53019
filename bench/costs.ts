import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import { fill, systemDatabase, toId } from './dataset.ts';
import { type BenchPlan, call, measureCpuSeconds, type NextRequest, pickAny, quantile, send } from './load.ts';
import { closeIds } from './read-growth.ts';
import { type CommandCounts, countPerRequest, mapValues, type Observed, observe, subtract } from './round-trips.ts';
import { type BenchSystem, internalHeaders } from './system.ts';

/** The name of this measurement on the command line. */
export const costNames = ['costs'] as const;

/** The cost of a request in the whole system, until everything that follows from it is done. */
export interface RequestCost {
  name: string;
  /** Requests per second while they were sent, and until everything was done. */
  sentPerSecond: number;
  donePerSecond: number;
  /** CPU time per request, by process. */
  cpuMs: Record<string, number>;
  /** Commands to the store per request. */
  commands: CommandCounts;
  requestBytes: number;
  responseBytes: number;
}

/** A system without requests. */
export interface IdleCost {
  /** CPU time per second, by process. Units: ms. */
  cpuMs: Record<string, number>;
  /** Commands to the store per second. */
  commands: CommandCounts;
}

/** The costs of a system. */
export interface MeasuredCosts {
  requests: RequestCost[];
  idle: IdleCost;
  /** The resident memory of each service after the load, in bytes. */
  memory: Record<string, number>;
}

interface CostedRequest {
  name: string;
  /** How many are sent in a round. */
  count: number;
  next: NextRequest;
}

const ticketCount = 15_000;
const connections = 8;
const idleSeconds = 30;
/** For so long after its start a system has work that is not repeated. */
const startSeconds = 20;
const sessionsOfTicket = 3;
const priorities = ['low', 'medium', 'high', 'urgent'];
const created = {
  channel: 'email',
  subject: 'Zähler',
  body: `<p>${'Guten Tag, mein Zähler steht. '.repeat(20)}</p>`,
};
const anyTicket = () => toId(Math.floor(Math.random() * ticketCount));
const listed = {
  filters: [{ key: 't.status', comparator: '=', value: 'open' }],
  orderByField: 't.createdAt',
  orderByDirection: 'desc',
  limit: 100,
};

const nextPage: NextRequest = () => ({ method: 'POST', path: '/ticket/search', body: listed });
const list = (which: string): CostedRequest => ({
  name: `POST /ticket/search, 100 of ${ticketCount.toLocaleString('en-US')} ${which}`,
  count: 400,
  next: nextPage,
});

function reads(withSessions: readonly number[]): CostedRequest[] {
  return [
    { name: 'GET /ticket/{id}', count: 2_000, next: () => ({ method: 'GET', path: `/ticket/${anyTicket()}` }) },
    {
      name: 'the same without sessions (includeSessions=false)',
      count: 2_000,
      next: () => ({ method: 'GET', path: `/ticket/${anyTicket()}?includeSessions=false` }),
    },
    {
      name: `GET /ticket/{id} of a ticket with ${sessionsOfTicket} sessions`,
      count: 1_000,
      next: () => ({ method: 'GET', path: `/ticket/${pickAny(withSessions)}` }),
    },
  ];
}

const patch: CostedRequest = {
  name: 'PATCH /ticket/{id}',
  count: 1_000,
  next: () => ({ method: 'PATCH', path: `/ticket/${anyTicket()}`, body: { priority: pickAny(priorities) } }),
};

const creations: readonly CostedRequest[] = [
  { name: 'POST /ticket', count: 800, next: () => ({ method: 'POST', path: '/ticket', body: created }) },
  {
    name: 'POST /ticket without analysis (process=false)',
    count: 800,
    next: () => ({ method: 'POST', path: '/ticket?process=false', body: created }),
  },
];

/**
 * Measures requests as clients send them, in the whole system with all roles, each until everything that follows from it
 * is done, after as many of the same as a warm-up. The system must be on the embedded log and just started, and nothing
 * else may use it.
 */
export async function measureCosts(system: BenchSystem, { progress }: BenchPlan): Promise<MeasuredCosts> {
  const connection = await mongoose.createConnection(system.mongodbUri).asPromise();
  try {
    const meter: Meter = { system, connection };
    progress(`${ticketCount} tickets are being created`);
    await fill(system.mongodbUri, ticketCount, [systemDatabase]);
    const withSessions = Array.from({ length: 100 }, (_, nth) => toId(nth * 7));
    await recordSessions(system, withSessions);
    await setTimeout(startSeconds * 1000);
    await waitUntilDone(connection);
    progress('no requests');
    const idle = await use(meter, () => setTimeout(idleSeconds * 1000));
    const requests: RequestCost[] = [];
    const measure = async (...wanted: CostedRequest[]) => {
      for (const request of wanted) {
        progress(request.name);
        await send(system, request.next, { requests: request.count, connections });
        await waitUntilDone(connection);
        requests.push(await measureRequest(meter, idle, request));
      }
    };
    await measure(list('that were just created'));
    await closeIds(system.mongodbUri);
    const closedAt = performance.now();
    await measure(...reads(withSessions), patch);
    // A list has the last closed id read again, in the background, if that was a minute ago.
    await setTimeout(Math.max(0, closedAt + 61_000 - performance.now()));
    await call(system, nextPage());
    await measure(list('that were there long'), ...creations);
    const toRates = (counts: CommandCounts) => mapValues(counts, (count) => count / idle.seconds);
    const idleCost = { cpuMs: toRates(idle.cpuMs), commands: toRates(idle.counts) };
    return { requests, idle: idleCost, memory: system.memory() };
  } finally {
    await connection.close();
  }
}

/** A system, and a connection to its engine. */
interface Meter {
  system: BenchSystem;
  connection: mongoose.Connection;
}

/** The commands and the CPU time that a system has used in an interval. Units: ms, by process. */
interface Used extends Observed {
  cpuMs: Record<string, number>;
}

async function measureRequest(meter: Meter, idle: Used, { name, count, next }: CostedRequest): Promise<RequestCost> {
  const { result, counts, seconds, cpuMs } = await use(meter, async () => {
    const startedAt = performance.now();
    const sent = await send(meter.system, next, { requests: count, connections });
    return { sent, ...(await waitUntilDone(meter.connection, startedAt)) };
  });
  const { sent, doneSeconds, checks } = result;
  const withoutChecks = { ...counts, find: (counts.find ?? 0) - checks * findsOfCheck };
  const cpu = countPerRequest({ counts: cpuMs, seconds }, { counts: idle.cpuMs, seconds: idle.seconds }, count);
  return {
    name,
    sentPerSecond: count / sent.seconds,
    donePerSecond: count / doneSeconds,
    cpuMs: mapValues(cpu, (ms) => Math.max(0, ms)),
    commands: countPerRequest({ counts: withoutChecks, seconds }, idle, count),
    requestBytes: Buffer.byteLength(JSON.stringify(next().body) ?? ''),
    responseBytes: sent.responseBytes,
  };
}

/** Does something, and returns with its result what the system has used meanwhile. */
async function use<Result>(
  { system, connection }: Meter,
  action: () => Promise<Result>,
): Promise<Used & { result: Result }> {
  const before = measureCpuSeconds(system);
  const observed = await observe(connection, action);
  const cpuMs = mapValues(subtract(measureCpuSeconds(system), before), (seconds) => seconds * 1000);
  return { ...observed, cpuMs };
}

const checkEveryMs = 250;
/** How many finds a check makes. */
const findsOfCheck = 5;
/** The work of a service may begin a moment after it has read an event. */
const quietChecks = 4;
const topic = 'ticketing.ticket.changed.v1';
const partitions = [`${topic}/0`, `${topic}/1`];

/**
 * Waits until all events were sent and consumed and no analysis waits. Returns when that was first so, as seconds since
 * `startedAt`, and how often it looked.
 */
async function waitUntilDone(
  connection: mongoose.Connection,
  startedAt = performance.now(),
): Promise<{ doneSeconds: number; checks: number }> {
  let doneAt: number | undefined;
  let checks = 0;
  for (let quiet = 0; quiet < quietChecks; ) {
    const at = performance.now();
    const isDone = await hasNothingLeft(connection.getClient());
    checks += 1;
    quiet = isDone ? quiet + 1 : 0;
    doneAt = isDone ? (doneAt ?? at) : undefined;
    await setTimeout(checkEveryMs);
  }
  return { doneSeconds: ((doneAt ?? startedAt) - startedAt) / 1000, checks };
}

async function hasNothingLeft(client: mongoose.mongo.MongoClient): Promise<boolean> {
  const events = client.db('ticketing_events');
  const chunks = events.collection<{ _id: string; sequence: number; messages: unknown[] }>('logChunks');
  const offsets = events.collection<{ _id: string; offset: number }>('logConsumerOffsets');
  const projection = { _id: 1 };
  const [unsent, analysis, consumed, ...lastChunks] = await Promise.all([
    client
      .db(systemDatabase)
      .collection('tickets')
      .findOne({ outboxSince: { $exists: true } }, { projection }),
    client.db('ticketing_intents').collection('analyses').findOne({}, { projection }),
    offsets.find({ _id: new RegExp(`/${topic}/`) }).toArray(),
    ...partitions.map((partition) =>
      chunks.findOne(
        { _id: { $gte: `${partition}/`, $lt: `${partition}0` } },
        { sort: { _id: -1 }, projection: { sequence: 1, 'messages.key': 1 } },
      ),
    ),
  ]);
  if (unsent || analysis) return false;
  return partitions.every((partition, nth) => {
    const last = lastChunks[nth];
    const end = last ? last.sequence * 1000 + last.messages.length : 0;
    return consumed.filter(({ _id }) => _id.endsWith(partition)).every(({ offset }) => offset >= end);
  });
}

/** Records sessions of tickets, as the assistant does. */
async function recordSessions(system: BenchSystem, ticketIds: readonly number[]): Promise<void> {
  const port = system.service('intents').environment.get('TICKETING_INTENTS_HTTP_PORT');
  const address = { url: `http://127.0.0.1:${port}`, headers: await internalHeaders(system, 'intents') };
  const path = '/ticketing.intents.v1.SessionService/RecordSession';
  const at = new Date().toISOString();
  const fields = { createdAt: at, lastActivityAt: at, participants: [{ id: 7, name: 'Ada' }], messageCount: 4 };
  for (const ticketId of ticketIds) {
    for (let nth = 0; nth < sessionsOfTicket; nth++) {
      await call(address, { method: 'POST', path, body: { id: randomUUID(), ticketId, ...fields } });
    }
  }
}

/** The medians of several measurements of a system. */
export function takeMedians(all: readonly MeasuredCosts[]): MeasuredCosts {
  const [first] = all;
  if (!first) throw new Error('There are no measurements.');
  const median = (read: (one: MeasuredCosts) => number) => quantile(all.map(read), 0.5);
  const medians = (read: (one: MeasuredCosts) => Readonly<Record<string, number>>) => {
    const names = [...new Set(all.flatMap((one) => Object.keys(read(one))))];
    return Object.fromEntries(names.map((name) => [name, median((one) => read(one)[name] ?? 0)]));
  };
  return {
    requests: first.requests.map((request, nth) => {
      const at = ({ requests }: MeasuredCosts) => requests[nth] ?? request;
      return {
        ...request,
        sentPerSecond: median((one) => at(one).sentPerSecond),
        donePerSecond: median((one) => at(one).donePerSecond),
        cpuMs: medians((one) => at(one).cpuMs),
        commands: medians((one) => at(one).commands),
      };
    }),
    idle: { cpuMs: medians(({ idle }) => idle.cpuMs), commands: medians(({ idle }) => idle.commands) },
    memory: medians(({ memory }) => memory),
  };
}
