import { type AddressOptions, type AddressRules, addressRules } from './address-rules.ts';
import { Exchange } from './exchange.ts';
import { followRedirects, type Send } from './follow-redirects.ts';
import { guardedConnector } from './guarded-connector.ts';
import { type OriginPools, originPools } from './origin-pools.ts';
import { OutboundError } from './outbound-error.ts';
import type { OutboundRequest, OutboundResponse } from './outbound-request.ts';
import { readOutboundUrl, type UrlProblem } from './outbound-url.ts';
import { openResolver, type ResolveHost } from './resolve-host.ts';

/** The addresses that a guard allows, and the parts that tests replace. */
export interface OutboundGuardOptions extends AddressOptions {
  resolve?: ResolveHost;
  /** Authorities to trust instead of those of Node, in PEM. */
  ca?: string;
}

/** Makes requests to addresses that clients configure or send, and refuses those that lead into private networks. */
export interface OutboundGuard {
  /**
   * Returns the problem of a URL that a client wants to save. The addresses of a name are checked only when it is
   * dialled.
   */
  checkUrl(url: string): UrlProblem | undefined;
  /** Sends a request. Errors: an OutboundError, or the reason of the signal. Nothing is repeated. */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /** Closes the connections after the requests that are being made, and refuses further ones. */
  close(): Promise<void>;
}

/**
 * Opens a guard with new connection pools. Variables for proxies are ignored: a proxy would resolve names itself.
 *
 * Source: docs/reference/guarantees.md, Outbound requests.
 */
export function outboundGuard({ resolve = openResolver(), ca, ...addresses }: OutboundGuardOptions): OutboundGuard {
  const rules = addressRules(addresses);
  const pools = originPools(guardedConnector({ rules, resolve, ca }));
  const inFlight = new Set<Promise<OutboundResponse>>();
  let closed: Promise<void> | undefined;
  return {
    checkUrl(text) {
      const url = readOutboundUrl(text, rules);
      return url instanceof URL ? undefined : url;
    },
    async request(request) {
      if (closed) throw new OutboundError('request_refused', { code: 'CLOSED' });
      const response = makeRequest(pools, rules, request);
      inFlight.add(response);
      return response.finally(() => inFlight.delete(response));
    },
    close() {
      closed ??= Promise.allSettled(inFlight).then(() => pools.destroy());
      return closed;
    },
  };
}

async function makeRequest(
  pools: OriginPools,
  rules: AddressRules,
  request: OutboundRequest,
): Promise<OutboundResponse> {
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  let exchange: Exchange | undefined;
  const limit = startTimeLimit(request);
  const send: Send = async ({ origin, pathname, search }, headers, skipsBody) => {
    limit.signal.throwIfAborted();
    const { method, body = null, maxResponseBytes: maxBytes, longResponse } = request;
    const refusesLongBody = longResponse === 'refuse';
    exchange = new Exchange({ maxBytes, refusesLongBody, skipsBody, signal: limit.signal });
    pools.send({ origin, path: pathname + search, method, headers, body }, exchange);
    return exchange.result;
  };
  try {
    requireNoHost(request.headers);
    const { bytes, ...result } = await followRedirects(request, rules, send);
    return { ...result, body: bytes, address: exchange?.address, durationMs: durationMs() };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const { kind, code, address } = error;
    const dialled = exchange?.address ?? address;
    throw new OutboundError(kind, { code, address: dialled, status: exchange?.status, durationMs: durationMs() });
  } finally {
    limit.clear();
  }
}

/** Another `Host` would reach another site at an address that many sites share, and change the name that TLS verifies. */
function requireNoHost(headers: OutboundRequest['headers'] = {}): void {
  const hasHost = Object.keys(headers).some((name) => name.toLowerCase() === 'host');
  if (hasHost) throw new OutboundError('request_refused', { code: 'HOST_HEADER' });
}

/** Returns a signal that aborts at the deadline of a request, or with the request's own signal. */
function startTimeLimit({ deadlineMs, signal }: OutboundRequest): { signal: AbortSignal; clear(): void } {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new OutboundError('timeout')), deadlineMs);
  const onAbort = () => limit.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort);
  return {
    signal: limit.signal,
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}
