import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, type Dispatcher } from 'undici';

type RequestCallback = (error: Error | null, answer: Dispatcher.ResponseData) => void;

/** The connections of the gateway to the services. */
export interface UpstreamAgent {
  /** Makes a request, which within `during` ends when its signal says so. */
  request(options: Dispatcher.RequestOptions, callback: RequestCallback): void;
  during<Result>(signal: AbortSignal, run: () => Result): Result;
  /** Reads a JSON document of a service. Errors: any answer but 200, and none in time. */
  getJson(origin: string, path: string, timeoutMs: number): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Opens the connection pools. TLS is verified, connections age so that a new replica gets its share, and nothing is
 * retried: only the caller of the gateway knows what may be repeated.
 */
export function upstreamAgent(idleMs: number): UpstreamAgent {
  const signals = new AsyncLocalStorage<AbortSignal>();
  const agent = new Agent({
    // Far above what one caller may have under way: each upload holds a connection as long as it lasts.
    connections: 2048,
    pipelining: 1,
    connect: { timeout: 1000, rejectUnauthorized: true },
    // The caller ends what takes too long to begin, also while it waits for a connection.
    headersTimeout: 0,
    bodyTimeout: idleMs,
    // Below the 72 s after which a service closes an idle connection, so that none is used as it is being closed.
    keepAliveTimeout: 4000,
    clientTtl: 60_000,
  });
  return {
    request: (options, callback) =>
      agent.request({ ...options, opaque: null, signal: signals.getStore() ?? null }, callback),
    during: (signal, run) => signals.run(signal, run),
    async getJson(origin, path, timeoutMs) {
      const signal = AbortSignal.timeout(timeoutMs);
      const { statusCode, body } = await agent.request({ origin, path, method: 'GET', signal });
      const json = await body.json();
      if (statusCode !== 200) throw new Error(`${origin}${path} answered ${statusCode}`);
      return json;
    },
    close: () => agent.close(),
  };
}
