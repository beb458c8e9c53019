import { setImmediate } from 'node:timers/promises';
import type {
  FollowEventsRequest,
  FollowEventsResponse,
} from '@ticketing/contracts/ticketing/settings/v1/event_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { FeedParts } from './open.ts';
import { findStart, toFilter } from './read.ts';
import { eventCursor } from './rules/cursor.ts';
import type { EventFilter, StoredEvent } from './store.ts';

/** The number of events without a match after which a follower gets a new cursor. */
const silentEvents = 1_000;
const day = 24 * 3_600_000;
/** How long a client has to read the rest of a stream that has ended. */
const unreadMs = 2_000;

/**
 * Returns the events after a cursor and then each new one, until the caller leaves, its token expires or the process
 * stops. In REST, `Last-Event-ID` replaces the cursor of the query, which a browser repeats when it connects again.
 *
 * Errors: invalid_cursor, cursor_expired, too_many_at_once.
 */
export async function* followEvents(
  feed: FeedParts,
  call: Call,
  request: FollowEventsRequest,
): AsyncGenerator<FollowEventsResponse> {
  const leave = feed.admitFollower(call.caller);
  const expiry = watchExpiry(call, feed);
  try {
    const ended = AbortSignal.any([call.gone, feed.closing, expiry.signal]);
    endUnreadResponse(call, ended);
    const { after } = await findStartOfFollower(feed, call, request);
    yield response(after);
    yield* eventsAfter(after, feed, toFilter(request), ended);
  } finally {
    expiry.stop();
    leave();
  }
}

async function* eventsAfter(
  after: number,
  { tail }: FeedParts,
  filter: EventFilter,
  ended: AbortSignal,
): AsyncGenerator<FollowEventsResponse> {
  const stopFollowing = tail.follow();
  try {
    let [position, announced] = [after, after];
    for (;;) {
      await tail.advanced(position, ended);
      if (ended.aborted) return;
      const { events, next } = await tail.read(position, filter);
      for (const { position: at, event } of events) {
        if (ended.aborted) return;
        announced = at;
        yield response(at, event);
      }
      position = next;
      // Lets other requests run between two parts.
      await setImmediate();
      if (position - announced < silentEvents) continue;
      announced = position;
      yield response(position);
    }
  } finally {
    stopFollowing();
  }
}

/**
 * Ends the response soon after the stream has to end, if its client does not read it. Otherwise nothing asks this
 * handler for its next message, and the process cannot stop.
 */
function endUnreadResponse(call: Call, ended: AbortSignal): void {
  const end = () => {
    if (call.gone.aborted) return;
    const timer = setTimeout(() => call.endResponse(), unreadMs);
    call.gone.addEventListener('abort', () => clearTimeout(timer), { once: true });
  };
  if (ended.aborted) end();
  else ended.addEventListener('abort', end, { once: true });
}

function findStartOfFollower({ events }: FeedParts, call: Call, { after }: FollowEventsRequest) {
  const last = call.api === 'rest' ? call.header('last-event-id') : undefined;
  return last ? findStart(events, last, '#/header/Last-Event-ID') : findStart(events, after, '#/after');
}

function response(position: number, event?: StoredEvent['event']): FollowEventsResponse {
  const next = eventCursor(position);
  return { $typeName: 'ticketing.settings.v1.FollowEventsResponse', next, ...(event && { event }) };
}

/** Returns a signal that aborts when the token of a call's caller expires. */
function watchExpiry({ caller: { expiresAt } }: Call, { runtime }: FeedParts): { signal: AbortSignal; stop(): void } {
  const expiring = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const wait = () => {
    const leftMs = expiresAt === null ? day : expiresAt * 1000 - runtime.now();
    if (leftMs <= 0) expiring.abort();
    // A timer cannot wait for more than 24 days.
    else timer = setTimeout(wait, Math.min(leftMs, day));
  };
  wait();
  return { signal: expiring.signal, stop: () => clearTimeout(timer) };
}
