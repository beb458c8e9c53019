import type { IncomingHttpHeaders } from 'node:http';
import type { IncomingHttpHeaders as Http2Headers } from 'node:http2';
import { renderTraceparent, type Sampler } from '@ticketing/runtime/trace.ts';
import type { FastifyRequest } from 'fastify';
import { findRequestContext } from '../request/context.ts';

/** The headers of the client that are forwarded. All others are dropped, above all those for identity and forwarding. */
const fromClient = [
  'accept',
  'if-match',
  'if-none-match',
  'if-range',
  'idempotency-key',
  'last-event-id',
  'prefer',
  'range',
] as const;
const bodyHeaders = ['content-type', 'content-length'] as const;

/**
 * Returns the headers of the request to a service. `sampler` decides which traces are recorded; undefined if none is.
 * `address` is the address of the client, for the log of the service; undefined if the client has disconnected.
 */
export function requestHeaders(
  request: FastifyRequest,
  sampler: Sampler | undefined,
  address: string | undefined,
): Record<string, string> {
  const { trace, internalAuthorization } = findRequestContext(request);
  if (internalAuthorization === undefined) throw new Error(`${request.url} was not admitted`);
  const traceparent = renderTraceparent(trace, sampler);
  const headers: Record<string, string> = { authorization: internalAuthorization, traceparent };
  if (address !== undefined) headers['x-forwarded-for'] = address;
  // Without a parsed body (GET, HEAD) none is forwarded, even if the client announced one.
  const names = request.body === undefined ? fromClient : [...fromClient, ...bodyHeaders];
  for (const name of names) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}

/** Headers that are about one connection only (RFC 9110, section 7.6.1). */
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

/** Returns the headers of a service's response that are passed on: all except those about its connection. */
export function responseHeaders(headers: IncomingHttpHeaders | Http2Headers): IncomingHttpHeaders {
  const listed = headers.connection?.toLowerCase().split(',') ?? [];
  const ofConnection = new Set(listed.map((name) => name.trim()));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name) && !ofConnection.has(name)));
}
