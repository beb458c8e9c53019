import type { CallOptions } from './call.ts';
import { type FollowedEvent, followStream } from './follow-events.ts';
import type { Operations } from './gen/calls.ts';
import { type Operation, operationTable } from './gen/operations.ts';
import { ProblemError } from './problem-error.ts';
import { requestUrl } from './request-url.ts';
import { type SendOptions, sendRequest } from './send-request.ts';
import type { TicketEvent } from './webhook.ts';

/** How a client reaches the system. */
export interface TicketingOptions extends Partial<Omit<SendOptions, 'token'>> {
  /** The base URL of the gateway, for example `https://ticketing.example.com`. */
  baseUrl: string;
  /** The access token, or a function that returns a valid one; it is called before each attempt. */
  token: SendOptions['token'];
}

/** Where a reader of the feed begins, and which events it gets. */
export interface FollowOptions {
  /** The cursor of the last event that was handled; the oldest event of the feed by default. */
  after?: string;
  types?: readonly TicketEvent['type'][];
  ticketId?: number;
  /** Ends the reading. */
  signal: AbortSignal;
}

/** A client of the REST API: a function for each operation, by its id in the OpenAPI document. */
export interface TicketingClient extends Operations {
  /** Yields the events of the feed, the new ones as soon as they happen, until the signal is aborted. */
  followEvents(options: FollowOptions): AsyncGenerator<FollowedEvent, void, undefined>;
}

const defaults = { maxAttempts: 4, maxWaitMs: 30_000, timeoutMs: 60_000 };

/** Makes a client of the REST API. It holds no connection, so it needs no closing. */
export function createTicketingClient(options: TicketingOptions): TicketingClient {
  const sending: SendOptions = { ...defaults, fetch: globalThis.fetch, ...options };
  const calls = Object.entries(operationTable).map(([name, operation]) => [
    name,
    (request?: AnyRequest, call?: CallOptions) => callOperation(options.baseUrl, operation, request, call, sending),
  ]);
  const followEvents = ({ after, types, ticketId, signal }: FollowOptions) =>
    followStream(
      async (cursor, ended) => {
        const header = { accept: 'text/event-stream', ...(cursor !== undefined && { 'last-event-id': cursor }) };
        const request = { query: { types, ticketId }, header };
        const operation: Operation = { ...operationTable.listEvents, response: 'file' };
        return (await callOperation(options.baseUrl, operation, request, { signal: ended }, sending)) as Response;
      },
      after,
      signal,
    );
  return { ...Object.fromEntries(calls), followEvents } as TicketingClient;
}

/** A request of any operation. */
interface AnyRequest {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  header?: Record<string, string | undefined>;
  body?: unknown;
}

async function callOperation(
  baseUrl: string,
  { method, path, repeat, response }: Operation,
  request: AnyRequest = {},
  { signal, idempotencyKey }: CallOptions = {},
  options: SendOptions,
): Promise<unknown> {
  const headers = new Headers({ accept: response === 'json' ? 'application/json' : '*/*' });
  for (const [name, value] of Object.entries(request.header ?? {})) if (value !== undefined) headers.set(name, value);
  if (repeat === 'withKey' && !headers.has('idempotency-key')) {
    headers.set('idempotency-key', idempotencyKey ?? crypto.randomUUID());
  }
  if (request.body !== undefined) headers.set('content-type', 'application/json');
  const received = await sendRequest(
    {
      method,
      url: requestUrl(baseUrl, path, request.path, request.query),
      headers,
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      repeat: repeat === 'refused' ? 'refused' : 'always',
      isStreamed: response === 'file',
      signal,
    },
    options,
  );
  if (response === 'file') return received.response;
  try {
    return JSON.parse(received.text);
  } catch {
    throw new ProblemError(received.response, '', 'the response is no JSON');
  }
}
