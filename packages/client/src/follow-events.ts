import { createParser } from 'eventsource-parser';
import { ConnectionError, ProblemError } from './problem-error.ts';
import { backoffMs } from './retry-wait.ts';
import { wait } from './send-request.ts';
import type { TicketEvent } from './webhook.ts';

/** An event of the feed, and the cursor after it. */
export interface FollowedEvent {
  /** Continues after this event. Keep it when the work for the event is done. */
  cursor: string;
  event: TicketEvent;
}

/**
 * An event of the feed is not a JSON object, for example because a proxy has changed it. Reading it again would not
 * help, and skipping it would hide a change. A program that accepts to miss the change continues after `cursor`.
 */
export class UnreadableEventError extends Error {
  override readonly name = 'UnreadableEventError';
  /** The cursor after this event. */
  readonly cursor: string;
  /** The text that was received instead of an event. */
  readonly data: string;

  constructor(cursor: string, data: string, options?: ErrorOptions) {
    super(`the event before the cursor ${cursor} is not a JSON object`, options);
    this.cursor = cursor;
    this.data = data;
  }
}

/** Opens the stream of the feed after a cursor. Errors: ProblemError, ConnectionError. */
export type OpenStream = (cursor: string | undefined, signal: AbortSignal) => Promise<Response>;

/** The server sends a comment every 15 seconds; a connection that is silent for this long is lost. */
const silenceMs = 45_000;

/**
 * Yields the events of the feed, the new ones as soon as they happen. It connects again whenever the stream ends, and
 * continues after the last event. It ends when the signal is aborted: events that have arrived already are not yielded.
 *
 * Errors: ProblemError if it is not retryable: 400 `invalid_cursor`, 401, 403, 410 `cursor_expired`, a response
 * with another content type (`unexpected_response`). UnreadableEventError.
 * Source: docs/reference/api.md, Feed of changes.
 */
export async function* followStream(
  open: OpenStream,
  after: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<FollowedEvent, void, undefined> {
  let cursor = after;
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      for await (const followed of readStream(open, cursor, signal)) {
        if (signal.aborted) return;
        failures = 0;
        cursor = followed.cursor;
        yield followed;
      }
    } catch (error) {
      if (!signal.aborted && !passes(error)) throw error;
    }
    await wait(backoffMs(failures + 1), signal).catch(() => undefined);
  }
}

function passes(error: unknown): boolean {
  return (
    error instanceof ConnectionError || (error instanceof ProblemError && (error.status === 429 || error.status >= 500))
  );
}

async function* readStream(
  open: OpenStream,
  cursor: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<FollowedEvent, void, undefined> {
  const silence = new AbortController();
  const received: ReceivedEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, data }) => {
      if (id !== undefined) received.push({ cursor: id, data });
    },
  });
  const decoder = new TextDecoder();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  try {
    const response = await unlessSilent(open(cursor, AbortSignal.any([signal, silence.signal])), silence);
    reader = response.body?.getReader();
    requireEventStream(response);
    while (reader) {
      const { done, value } = await unlessSilent(reader.read(), silence);
      if (done) break;
      parser.feed(decoder.decode(value, { stream: true }));
      for (const event of received.splice(0)) yield followedEvent(event);
    }
  } catch (error) {
    if (error instanceof ProblemError || error instanceof UnreadableEventError) throw error;
    throw new ConnectionError('the stream broke', { cause: error });
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

/** Like `EventSource` of browsers, which does not connect again either. Errors: ProblemError `unexpected_response`. */
function requireEventStream(response: Response): void {
  const type = response.headers.get('content-type') ?? 'no content type';
  if (type.split(';')[0]?.trim().toLowerCase() === 'text/event-stream') return;
  throw new ProblemError(response, '', `the response is no stream of events (${type})`);
}

/** The time counts only while the client waits for the server, not while the program works for an event. */
async function unlessSilent<T>(waiting: Promise<T>, silence: AbortController): Promise<T> {
  const timer = setTimeout(() => silence.abort(new ConnectionError('the stream is silent')), silenceMs);
  try {
    return await waiting;
  } finally {
    clearTimeout(timer);
  }
}

/** An event as it was received. */
interface ReceivedEvent {
  cursor: string;
  data: string;
}

function followedEvent({ cursor, data }: ReceivedEvent): FollowedEvent {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch (cause) {
    throw new UnreadableEventError(cursor, data, { cause });
  }
  if (!isEvent(event)) throw new UnreadableEventError(cursor, data);
  return { cursor, event };
}

function isEvent(value: unknown): value is TicketEvent {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
