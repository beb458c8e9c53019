import type { IncomingHttpHeaders } from 'node:http';
import type { IncomingHttpHeaders as Http2Headers } from 'node:http2';
import { traceparentOf } from '@ticketing/runtime/trace.ts';
import type { FastifyRequest } from 'fastify';
import { requestContextOf } from './request-context.ts';

/** What a service gets of a client's headers. Everything else, above all identity and forwarding, stays here. */
const fromClient = ['accept', 'if-match', 'if-none-match', 'idempotency-key', 'prefer'] as const;
const ofBody = ['content-type', 'content-length'] as const;

/** The headers of the request to a service, built from an empty list. */
export function requestHeaders(request: FastifyRequest): Record<string, string> {
  const { trace, internalAuthorization } = requestContextOf(request);
  if (internalAuthorization === undefined) throw new Error(`${request.url} was not admitted`);
  const headers: Record<string, string> = { authorization: internalAuthorization, traceparent: traceparentOf(trace) };
  // Without a body of ours the proxy sends none, whatever the client announced.
  const names = request.body === undefined ? fromClient : [...fromClient, ...ofBody];
  for (const name of names) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}

/** Headers that speak of one connection only (RFC 9110, section 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers of a service's answer without those that end here. */
export function responseHeaders(headers: IncomingHttpHeaders | Http2Headers): IncomingHttpHeaders {
  const named = headers.connection?.toLowerCase().split(',') ?? [];
  const ended = new Set(named.map((name) => name.trim()));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name) && !ended.has(name)));
}
