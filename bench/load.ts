import autocannon from 'autocannon';
import { readCpuSeconds } from './process-figures.ts';

/** What requests are sent to. */
export interface Target {
  url: string;
  headers: Record<string, string>;
  /** The processes that do the work, the engine included. */
  pids: readonly number[];
  /** The highest delay of an event loop since it was last asked, in ms. */
  loopDelayMs?(): Promise<number>;
}

/** One request of an operation; `body` is sent as JSON. */
export interface Shot {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  body?: unknown;
}

/** What a load has shown. Units: requests per second, ms. */
export interface Measured {
  maxRate: number;
  /** The rate at which the latency was measured. */
  fixedRate: number;
  latency: { p50: number; p95: number; p99: number };
  cpuMs: number;
  loopDelayMs?: number;
}

/** At which part of the highest rate latency is measured: a system at its limit shows its queue only. */
const share = 0.6;
const warmUpSeconds = 3;

/**
 * Finds the highest rate of an operation (closed loop), then measures latency at a fixed rate (open loop: a stall counts
 * for every request that it holds up).
 *
 * Errors: an answer that is not a success.
 */
export async function measure(target: Target, shots: () => Shot, { rate, ...options }: Fire): Promise<Measured> {
  await fire(target, shots, { ...options, seconds: warmUpSeconds });
  const cpuBefore = readCpuSeconds(target.pids);
  const most = await fire(target, shots, options);
  const cpuMs = ((readCpuSeconds(target.pids) - cpuBefore) * 1000) / most.count;
  const maxRate = most.count / most.seconds;
  const fixedRate = Math.max(1, Math.round(rate ?? maxRate * share));
  await target.loopDelayMs?.();
  const latency = await measureLatency(target, shots, { ...options, rate: fixedRate });
  const loopDelayMs = await target.loopDelayMs?.();
  return { maxRate, fixedRate, latency, cpuMs, ...(loopDelayMs === undefined ? {} : { loopDelayMs }) };
}

/** Measures latency at a fixed rate alone. Errors: an answer that is not a success. */
export async function measureLatency(target: Target, shots: () => Shot, options: Fire): Promise<Measured['latency']> {
  const fired = await fire(target, shots, options);
  return { p50: fired.at(0.5), p95: fired.at(0.95), p99: fired.at(0.99) };
}

interface Fired {
  count: number;
  seconds: number;
  /** The latency below which a share of the requests was answered, in ms. */
  at(share: number): number;
}

interface Fire {
  seconds: number;
  connections: number;
  /** Requests per second; undefined for as many as are answered. */
  rate?: number | undefined;
}

async function fire(target: Target, shots: () => Shot, { seconds, connections, rate }: Fire): Promise<Fired> {
  const times: number[] = [];
  // A request that waits longer than the interval holds up those that should have been sent meanwhile.
  const intervalMs = rate === undefined ? Number.POSITIVE_INFINITY : (connections / rate) * 1000;
  const finished = Promise.withResolvers<autocannon.Result>();
  const options = {
    url: target.url,
    connections,
    duration: seconds,
    headers: { ...target.headers, 'content-type': 'application/json' },
    ...(rate === undefined ? {} : { overallRate: rate }),
    requests: [{ setupRequest: (request: autocannon.Request) => ({ ...request, ...requestOf(shots()) }) }],
  };
  const run = autocannon(options, (error, result) => {
    if (error) finished.reject(error);
    else finished.resolve(result);
  });
  run.on('response', (_client, _status, _bytes, responseMs) => {
    for (let ms = responseMs; ms > 0; ms -= intervalMs) times.push(ms);
  });
  const result = await finished.promise;
  const failed = result.non2xx + result.errors;
  if (failed > 0) throw new Error(`${failed} of ${result.requests.total} requests to ${target.url} failed.`);
  times.sort((left, right) => left - right);
  return {
    count: result.requests.total,
    seconds: result.duration,
    at: (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN,
  };
}

function requestOf({ method, path, body }: Shot) {
  return { method, path, body: body === undefined ? '' : JSON.stringify(body) };
}
