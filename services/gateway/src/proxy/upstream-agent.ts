import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServiceTls } from '@ticketing/service-kit/tls/service-tls.ts';
import { Agent, buildConnector, type Dispatcher, RoundRobinPool } from 'undici';
import { NotConnectedError } from './upstream-error.ts';

type RequestCallback = (error: Error | null, response: Dispatcher.ResponseData) => void;

/** The limits of a call to a service. */
export interface CallLimits {
  signal: AbortSignal;
  /** How long a response may pause after it has begun, in ms; by default the timeout of the agent. */
  bodyTimeoutMs?: number | undefined;
}

/** The HTTP client of the gateway for calls to the services. */
export interface UpstreamAgent {
  /** Makes a request. If it is made within `withCall`, it has the limits of that call. */
  request(options: Dispatcher.RequestOptions, callback: RequestCallback): void;
  /** Runs a function; the limits apply to all requests that it makes. */
  withCall<Result>(call: CallLimits, run: () => Result): Result;
  /** Reads a JSON document from a service. Errors: an Error if there is no response in time, or one other than 200. */
  getJson(origin: string, path: string, timeoutMs: number): Promise<unknown>;
  close(): Promise<void>;
}

/** How long a connection that is not used is kept. Services that stop drain for longer. */
export const keepUnusedMs = 4_000;

/**
 * Opens the connection pools. The certificates of services are verified, and the gateway presents its own. Connections
 * are renewed every minute, so that new replicas get requests too. Nothing is retried, because only the client knows
 * which requests are safe to repeat.
 */
export function upstreamAgent(bodyTimeoutMs: number, tls: ServiceTls): UpstreamAgent {
  const calls = new AsyncLocalStorage<CallLimits>();
  const agent = new Agent({
    // Far above the concurrency limit of one caller, because each upload uses a connection until it ends.
    connections: 2048,
    pipelining: 1,
    // Uses all open connections in turn. A pool that prefers the first free one sends nearly all requests of a quiet time to
    // the replica at its other end.
    factory: (origin, options) => new RoundRobinPool(origin, options),
    connect: connector(tls),
    // The proxy aborts a call whose response does not begin in time, also while the call waits for a connection.
    headersTimeout: 0,
    bodyTimeout: bodyTimeoutMs,
    // Below the 72 s after which services close idle connections, so that no request is sent on a closing connection.
    keepAliveTimeout: keepUnusedMs,
    keepAliveMaxTimeout: keepUnusedMs,
    clientTtl: 60_000,
  });
  return {
    request(options, callback) {
      const { signal = null, bodyTimeoutMs: bodyTimeout } = calls.getStore() ?? {};
      const limits = { signal, ...(bodyTimeout !== undefined && { bodyTimeout }) };
      agent.request({ ...options, opaque: null, ...limits }, callback);
    },
    withCall: (call, run) => calls.run(call, run),
    async getJson(origin, path, timeoutMs) {
      const signal = AbortSignal.timeout(timeoutMs);
      const { statusCode, body } = await agent.request({ origin, path, method: 'GET', signal });
      const json = await body.json();
      if (statusCode !== 200) throw new Error(`${origin}${path} responded with ${statusCode}`);
      return json;
    },
    close: () => agent.close(),
  };
}

/** Opens connections; after a change of the TLS files, with the new ones. Errors: NotConnectedError. */
function connector(tls: ServiceTls): buildConnector.connector {
  const build = () => {
    const { ca, cert, key } = tls.files();
    const options = { ...(ca && { ca }), ...(cert && key && { cert, key }) };
    return buildConnector({ timeout: 1000, rejectUnauthorized: true, ...options });
  };
  let connect = build();
  tls.onChange(() => {
    connect = build();
  });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) callback(new NotConnectedError(error), null);
      else callback(null, socket);
    });
}
