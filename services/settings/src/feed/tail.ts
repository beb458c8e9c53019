import { setImmediate } from 'node:timers/promises';
import { TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { startWakefulLoop, type WakefulLoop, type WorkFound } from '@ticketing/runtime/wakeful-loop.ts';
import { type FeedPage, passesFilter, readFeed } from './read.ts';
import { toErasedEvent } from './rules/event.ts';
import type { EventFilter, EventStore, StoredEvent } from './store.ts';

/** The time between two polls of the end of the feed: after a poll that found events, and after some that did not. */
const defaultPollMs = { busy: 250, idle: 1_000 };
/** How many of the last events the followers of a process share, so that they do not each read them. */
const sharedEvents = 1_000;
/** How many events a follower that is behind reads and holds at a time. */
const pageSize = 100;
/** How many followers are resumed in one turn of the event loop. */
const resumedAtOnce = 20;

/** The end of the feed, as all followers of this process see it. */
export interface FeedTail {
  /** Starts to poll for new events, unless it does already. Returns the function that ends it for this follower. */
  follow(): () => void;
  /** Returns the next matching events after a position: from memory at the end of the feed, otherwise from the store. */
  read(after: number, filter: EventFilter): Promise<FeedPage>;
  /** Resolves when there are events after a position, or when the signal aborts. */
  advanced(after: number, signal: AbortSignal): Promise<void>;
  /** Signals that this process has appended events. */
  wake(): void;
  close(): Promise<void>;
}

/** Opens the end of the feed. The store is polled only while there are followers. */
export function feedTail(store: EventStore, onError: (error: unknown) => void, pollMs = defaultPollMs): FeedTail {
  let followers = 0;
  let loop: WakefulLoop | undefined;
  let end = 0;
  /** The events up to the end, without a gap. */
  let recent: StoredEvent[] = [];
  const waiting = new Set<() => void>();

  async function look(): Promise<WorkFound> {
    const last = (await store.bounds())?.last ?? 0;
    if (last <= end) return 'nothing';
    // Before the first poll no follower has seen an event, so none need be shared.
    const added =
      end === 0 ? [] : await store.between(Math.max(end, last - sharedEvents), last, { types: [] }, sharedEvents);
    const isNext = added[0]?.position === end + 1;
    recent = eraseDeleted([...(isNext ? recent : []), ...added].slice(-sharedEvents));
    end = last;
    await resumeAll();
    return 'done';
  }

  /** Resumes the followers some at a time, so that many of them do not delay other requests. */
  async function resumeAll(): Promise<void> {
    const resumed = [...waiting];
    for (let index = 0; index < resumed.length; index += resumedAtOnce) {
      for (const resume of resumed.slice(index, index + resumedAtOnce)) resume();
      await setImmediate();
    }
  }

  function start(): WakefulLoop {
    return startWakefulLoop({
      pollMs,
      run: look,
      onError(error, failures) {
        if (failures === 0) onError(error);
        return pollMs.idle;
      },
    });
  }

  function leave(): void {
    followers -= 1;
    if (followers > 0) return;
    void loop?.stop();
    loop = undefined;
    end = 0;
    recent = [];
  }

  return {
    follow() {
      followers += 1;
      loop ??= start();
      let hasLeft = false;
      return () => {
        if (!hasLeft) leave();
        hasLeft = true;
      };
    },
    async read(after, filter) {
      const first = recent[0]?.position;
      if (first === undefined || after + 1 < first) return readFeed(store, after, end, filter, pageSize);
      // Limits the part, because a follower that is behind must not write for long in one turn.
      const part = recent.slice(after + 1 - first, after + 1 - first + pageSize);
      const events = part.filter(({ event }) => passesFilter(filter, event));
      return { events, next: part.at(-1)?.position ?? Math.max(after, end) };
    },
    advanced: (after, signal) =>
      new Promise((resolve) => {
        const settle = () => {
          if (end <= after && !signal.aborted) return;
          waiting.delete(settle);
          signal.removeEventListener('abort', settle);
          resolve();
        };
        waiting.add(settle);
        signal.addEventListener('abort', settle);
        settle();
      }),
    wake: () => loop?.wake(),
    async close() {
      await loop?.stop();
    },
  };
}

/** Erases the events of deleted tickets in memory, as the store does, because they are not read from it again. */
function eraseDeleted(events: StoredEvent[]): StoredEvent[] {
  const deletions = events.filter(({ event }) => event.type === TicketChangeType.TICKET_DELETED);
  const deleted = new Set(deletions.map(({ event }) => event.ticketId));
  if (deleted.size === 0) return events;
  return events.map((one) => (deleted.has(one.event.ticketId) ? { ...one, event: toErasedEvent(one.event) } : one));
}
