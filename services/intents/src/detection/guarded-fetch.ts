import { OutboundError } from '@ticketing/outbound/outbound-error.ts';
import type { OutboundGuard } from '@ticketing/outbound/outbound-guard.ts';

/** The limits and the headers of a request. */
export interface GuardedFetchOptions {
  /** All headers besides those of the content. Headers that a library adds about this machine are not sent. */
  headers: Readonly<Record<string, string>>;
  deadlineMs: number;
  maxResponseBytes: number;
  signal: AbortSignal;
  /** Receives the error of a request without a response, which the library wraps in another error. */
  onError(error: unknown): void;
}

/** A `fetch` for a library: its POST requests are made by the outbound guard, one by one, without redirects. */
export function guardedFetch(outbound: Pick<OutboundGuard, 'request'>, options: GuardedFetchOptions): typeof fetch {
  const { headers, deadlineMs, maxResponseBytes, signal, onError } = options;
  return async (url, init) => {
    try {
      if (init?.method !== 'POST' || typeof init.body !== 'string') throw new OutboundError('request_refused');
      const response = await outbound.request({
        url: String(url),
        method: 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
        body: init.body,
        deadlineMs,
        maxResponseBytes,
        longResponse: 'refuse',
        maxRedirects: 0,
        signal,
      });
      return responseOf(response);
    } catch (error) {
      onError(error);
      throw error;
    }
  };
}

function responseOf({ status, headers, body }: Awaited<ReturnType<OutboundGuard['request']>>): Response {
  // A Response refuses any other status.
  if (status < 200 || status > 599) throw new OutboundError('protocol_error', { status });
  const hasBody = ![204, 205, 304].includes(status);
  const kept: Record<string, string> = {};
  for (const name of ['content-type', 'retry-after']) {
    const value = headers[name];
    if (typeof value === 'string') kept[name] = value;
  }
  return new Response(hasBody ? Uint8Array.from(body) : null, { status, headers: kept });
}
