import autocannon from 'autocannon';
import { readCpuSeconds } from './process-figures.ts';
import type { Figure, Goal } from './table.ts';

/** How a run measures. */
export interface BenchPlan {
  /** How long each load lasts. */
  seconds: number;
  /** How many tickets the largest set has. */
  tickets: number;
  /** The names of the wanted measurements. */
  only: readonly string[];
  /** Only attacks whose names contain this text are run. */
  attack: string;
  progress(text: string): void;
}

/** The address to which requests are sent, and their headers. */
export interface Address {
  url: string;
  headers: Record<string, string>;
}

/** A system that is measured under load. */
export interface Target extends Address {
  /** The ids of the processes that take part in serving the requests, the engine's included, by name. */
  processes: Readonly<Record<string, number>>;
  /** The p99 of its event-loop delay since the last call, in ms. */
  loopDelayMs?(): Promise<number>;
}

/** A request of a load; `body` is sent as JSON. */
export interface LoadRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
}

/** Makes the next request of a load. */
export type NextRequest = () => LoadRequest;

/** Units: ms. */
export interface Latency {
  p50: number;
  p95: number;
  p99: number;
}

/** The results of a target under load. Units: requests per second, ms. */
export interface Measured {
  maxRate: number;
  /** The rate at which the latency was measured. */
  fixedRate: number;
  latency: Latency;
  /** CPU time per request at the highest rate, by process. */
  cpuMs: Record<string, number>;
  loopDelayMs?: number;
}

/** A load that lasts for a time. */
export interface TimedLoad {
  seconds: number;
  connections: number;
  /** Requests per second. Undefined: each connection sends the next request after each response. */
  rate?: number | undefined;
}

/** A load of a number of requests. */
export interface CountedLoad {
  requests: number;
  connections: number;
}

/** Latency is measured at this share of the highest rate, because at the highest rate it is mostly queueing time. */
const fixedRateShare = 0.6;
const warmUpSeconds = 3;
const json = { 'content-type': 'application/json' };

/**
 * Finds the highest rate (closed loop), then measures latency at a fixed rate (open loop: a stall counts for every
 * request that it delays). A `rate` sets the fixed rate.
 *
 * Errors: a response that is not a success.
 */
export async function measure(
  target: Target,
  nextRequest: NextRequest,
  { rate, ...load }: TimedLoad,
): Promise<Measured> {
  await send(target, nextRequest, { ...load, seconds: warmUpSeconds });
  const cpuBefore = measureCpuSeconds(target);
  const closedLoop = await send(target, nextRequest, load);
  const cpuAfter = measureCpuSeconds(target);
  const maxRate = closedLoop.requests / closedLoop.seconds;
  const fixedRate = Math.max(1, Math.round(rate ?? maxRate * fixedRateShare));
  await target.loopDelayMs?.();
  const latency = await measureLatency(target, nextRequest, { ...load, rate: fixedRate });
  const loopDelayMs = await target.loopDelayMs?.();
  const cpuMs = Object.fromEntries(
    Object.keys(target.processes).map((name) => {
      const seconds = (cpuAfter[name] ?? Number.NaN) - (cpuBefore[name] ?? Number.NaN);
      return [name, (seconds * 1000) / closedLoop.requests];
    }),
  );
  return { maxRate, fixedRate, latency, cpuMs, ...(loopDelayMs === undefined ? {} : { loopDelayMs }) };
}

/** Measures latency only. Errors: a response that is not a success. */
export async function measureLatency(address: Address, nextRequest: NextRequest, load: TimedLoad): Promise<Latency> {
  const sent = await send(address, nextRequest, load);
  return { p50: sent.latencyAt(0.5), p95: sent.latencyAt(0.95), p99: sent.latencyAt(0.99) };
}

/** The result of a load. */
interface Sent {
  requests: number;
  seconds: number;
  /** The average size of a response with its headers. */
  responseBytes: number;
  /** The latency that a share of the requests did not exceed, in ms. */
  latencyAt(share: number): number;
}

/** Sends a load and waits for its end. Errors: a response that is not a success. */
export async function send(
  { url, headers }: Address,
  nextRequest: NextRequest,
  load: TimedLoad | CountedLoad,
): Promise<Sent> {
  const { connections } = load;
  const rate = 'rate' in load ? load.rate : undefined;
  const latencies: number[] = [];
  // A request that takes longer than the interval delays those that were due in the meantime.
  const intervalMs = rate === undefined ? Number.POSITIVE_INFINITY : (connections / rate) * 1000;
  const finished = Promise.withResolvers<autocannon.Result>();
  const options = {
    url,
    connections,
    headers: { ...headers, ...json },
    ...('requests' in load ? { amount: load.requests } : { duration: load.seconds }),
    ...(rate === undefined ? {} : { overallRate: rate }),
    requests: [
      { setupRequest: (request: autocannon.Request) => ({ ...request, ...autocannonRequest(nextRequest()) }) },
    ],
  };
  const run = autocannon(options, (error, result) => {
    if (error) finished.reject(error);
    else finished.resolve(result);
  });
  const startedAt = performance.now();
  let lastAt = startedAt;
  run.on('response', (_client, _status, _bytes, responseMs) => {
    lastAt = performance.now();
    for (let ms = responseMs; ms > 0; ms -= intervalMs) latencies.push(ms);
  });
  const result = await finished.promise;
  const failed = result.non2xx + result.errors;
  if (failed > 0) throw new Error(`${failed} of ${result.requests.total} requests to ${url} failed.`);
  latencies.sort((left, right) => left - right);
  return {
    requests: result.requests.total,
    // Its own figure is rounded to the second.
    seconds: 'requests' in load ? (lastAt - startedAt) / 1000 : result.duration,
    responseBytes: result.throughput.total / result.requests.total,
    latencyAt: (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN,
  };
}

/**
 * Measures the system, then the bare route with the same load, and its latency at the same rate. Returns the figure with the
 * ratio of their highest rates, as requests per second, or as items per second of requests for `items` each.
 */
export async function compareWithBare(
  {
    name,
    goal,
    items = 1,
    showsLatency = false,
  }: { name: string; goal?: Goal; items?: number; showsLatency?: boolean },
  [system, ofSystem]: readonly [Target, NextRequest],
  [bare, ofBare]: readonly [Target, NextRequest],
  { seconds, progress }: Pick<BenchPlan, 'seconds' | 'progress'>,
): Promise<Figure> {
  progress(`${name}: the system`);
  const { maxRate, fixedRate, latency } = await measure(system, ofSystem, { seconds, connections: 16 });
  progress(`${name}: the bare route`);
  const bareRate = (await measure(bare, ofBare, { seconds, connections: 16, rate: fixedRate })).maxRate;
  const details = { systemPerSecond: maxRate * items, barePerSecond: bareRate * items };
  return {
    name,
    value: maxRate / bareRate,
    details: showsLatency ? { ...details, systemP99: latency.p99 } : details,
    ...(goal && { goal }),
  };
}

/** Sends a request with JSON. Returns the JSON of the response. Errors: a response that is not a success. */
export async function call<Result = { id: number }>(
  { url, headers }: Address,
  { method, path, body }: LoadRequest,
): Promise<Result> {
  const sent =
    body === undefined ? { method, headers } : { method, headers: { ...headers, ...json }, body: JSON.stringify(body) };
  const response = await fetch(url + path, sent);
  if (!response.ok) throw new Error(`${method} ${path} responded with ${response.status}: ${await response.text()}`);
  return (await response.json()) as Result;
}

/** Returns one of some items by chance. */
export function pickAny<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)];
}

/** The value that a share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The CPU time that each process of a target has used. */
export function measureCpuSeconds({ processes }: Pick<Target, 'processes'>): Record<string, number> {
  return Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, readCpuSeconds(pid)]));
}

function autocannonRequest({ method, path, body }: LoadRequest) {
  return { method, path, body: body === undefined ? '' : JSON.stringify(body) };
}
