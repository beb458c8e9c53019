import {
  defaultQueueGroup,
  type QueueChange,
  queueKeys,
  type RoutingOrder,
  toQueueGroup,
} from '../ticket/rules/queue-keys.ts';
import {
  idAfter,
  idBefore,
  type KeysAround,
  moveInWindow,
  type QueuePosition,
  type QueueWindow,
  queueWindow,
} from './window-query.ts';

/** The queue without conditions of a request, as the settings say. */
export interface QueueView {
  order: RoutingOrder;
  /** The tag that takes tickets out of the queue at run time. */
  spamTagId: number | null;
}

/** The tickets before and after a position; undefined at an end of the queue. */
interface Neighbours {
  previous: number | undefined;
  next: number | undefined;
}

/** The neighbours of tickets in the queue, from windows of it that are kept for almost a second. */
interface QueueNeighbours {
  /**
   * Finds the neighbours of a position. Changes that this process has made are in the result; those of other processes
   * may be missing for a second.
   */
  find(view: QueueView, position: QueuePosition): Promise<Neighbours>;
  /** Makes a change of a ticket by `write`. Later results of `find` include it. */
  changing(change: QueueChange, write: () => Promise<boolean>): Promise<boolean>;
}

/** Reads the keys around a position: at most `width` before it, and `width` and one more from it on. */
export type ReadKeysAround = (view: QueueView, key: string, width: number) => Promise<KeysAround>;

/** The rest of the second is for sending the response. */
const keptMs = 900;
/** The ticket itself may be among those that are read. */
const minWidth = 2;
const maxWidth = 1024;
/** Reading a key costs some thousandth of a look-up that finds nothing in memory. */
const keysPerLookup = 8;
/** Leaving out tickets with the spam tag needs the documents of all, which costs more. */
const maxWidthOfDocuments = 128;
/** 70 bytes each. */
const maxKeptKeys = 32_768;
const maxWindows = 128;
/** A look-up waits for a running read of this width and more, because that probably finds its neighbours too. */
const sharedWidth = 64;

/** The position of a ticket after a change by this process. */
interface Move {
  version: number;
  key: string | undefined;
  startedAt: number;
  endedAt: number;
}

/**
 * Opens the neighbours. A look-up that no window can serve reads keys on both sides, the more, the more look-ups there
 * were in the last second: a process with few reads as many as it needs, and a busy one reads the queue once a second.
 * Why: docs/decisions/0049. Units: `now` in ms, by a clock that never goes back.
 */
export function queueNeighbours(read: ReadKeysAround, now: () => number): QueueNeighbours {
  const lookups = recentCount(now);
  /** In the order of their ends. */
  const moves = new Map<number, Move>();
  /** Replaced whenever everything is forgotten, so that a running read can detect it. */
  let current: QueueView | undefined;
  let windows: QueueWindow[] = [];
  let running: Promise<void> | undefined;

  function forget(next: QueueView | undefined): void {
    current = next && { ...next };
    windows = [];
    moves.clear();
  }

  /** Forgets everything if it belongs to another view. */
  function select(view: QueueView): void {
    if (!isSameView(current, view)) forget(view);
  }

  function known(position: QueuePosition): Neighbours | undefined {
    const since = now() - keptMs;
    let previous: number | null | undefined;
    let next: number | null | undefined;
    for (const window of windows) {
      if (window.readAt <= since) continue;
      if (previous === undefined) previous = idBefore(window, position);
      if (next === undefined) next = idAfter(window, position);
      if (previous !== undefined && next !== undefined) return neighbours(previous, next);
    }
    return undefined;
  }

  function chooseWidth({ spamTagId }: QueueView): number {
    const limit = spamTagId === null ? maxWidth : maxWidthOfDocuments;
    const wanted = Math.min(lookups.count() * keysPerLookup, limit);
    const kept = windows.reduce((sum, { keys }) => sum + keys.length, 0);
    return kept + 2 * wanted < maxKeptKeys ? wanted : minWidth;
  }

  async function readWindow(view: QueueView, position: QueuePosition, width: number): Promise<Neighbours> {
    const startedAt = now();
    const selected = current;
    const window = queueWindow(await read(view, position.key, width), width, startedAt);
    const found = neighbours(idBefore(window, position), idAfter(window, position));
    if (current !== selected || !isSameView(current, view)) return found;
    // The read may have missed changes that were made meanwhile.
    for (const [id, move] of moves) if (move.endedAt >= startedAt) applyMove(window, id, move);
    windows = windows.filter(({ readAt }) => readAt > now() - keptMs);
    if (windows.length < maxWindows) windows.unshift(window);
    return found;
  }

  /** A change of another process may have replaced this one before the read, so the window is as old as the older. */
  function applyMove(window: QueueWindow, id: number, { key, startedAt }: Move): void {
    moveInWindow(window, id, key);
    window.readAt = Math.min(window.readAt, startedAt);
  }

  function recordMove(id: number, move: Move): void {
    for (const [earlierId, { endedAt }] of moves) {
      if (endedAt > move.endedAt - keptMs) break;
      moves.delete(earlierId);
    }
    moves.delete(id);
    moves.set(id, move);
    for (const window of windows) applyMove(window, id, move);
  }

  return {
    async find(view, position) {
      select(view);
      lookups.add();
      const atOnce = known(position);
      if (atOnce) return atOnce;
      if (running) {
        await running;
        const meanwhile = isSameView(current, view) ? known(position) : undefined;
        if (meanwhile) return meanwhile;
      }
      const width = running ? minWidth : chooseWidth(view);
      const reading = readWindow(view, position, width);
      if (width >= sharedWidth) {
        const end = () => {
          running = undefined;
        };
        running = reading.then(end, end);
      }
      return reading;
    },
    async changing({ id, version, after }, write) {
      const startedAt = now();
      const isWritten = await write().catch((error: unknown) => {
        // The change may have been written, and a repetition of its request will respond that it was.
        forget(undefined);
        throw error;
      });
      if (!isWritten) return false;
      // The response to an earlier change may arrive later.
      if (current && (moves.get(id)?.version ?? 0) < version) {
        recordMove(id, { version, key: after && keyIn(current, after), startedAt, endedAt: now() });
      }
      return true;
    },
  };
}

function neighbours(previous: number | null | undefined, next: number | null | undefined): Neighbours {
  return { previous: previous ?? undefined, next: next ?? undefined };
}

/** The position of a ticket in a view of the queue; undefined if it is not in it. */
function keyIn({ order, spamTagId }: QueueView, ticket: NonNullable<QueueChange['after']>): string | undefined {
  if (toQueueGroup(ticket) !== defaultQueueGroup) return undefined;
  return spamTagId !== null && ticket.tagIds.includes(spamTagId) ? undefined : queueKeys(ticket)[order];
}

function isSameView(left: QueueView | undefined, right: QueueView): boolean {
  return left?.order === right.order && left.spamTagId === right.spamTagId;
}

/** Counts per second. `count` returns the higher count of this second and the one before. */
function recentCount(now: () => number): { add(): void; count(): number } {
  let second = 0;
  let before = 0;
  let during = 0;
  return {
    add() {
      const current = Math.floor(now() / 1000);
      if (current !== second) {
        before = current === second + 1 ? during : 0;
        during = 0;
        second = current;
      }
      during += 1;
    },
    count: () => Math.max(before, during),
  };
}
