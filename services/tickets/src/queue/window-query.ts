import { idOfQueueKey } from '../ticket/rules/queue-keys.ts';

/** A part of the queue as it was read: all keys between two bounds, or up to an end of the queue. */
export interface QueueWindow {
  /** When the oldest part of it was current, in ms. */
  readAt: number;
  /** In the order of the queue. */
  keys: string[];
  /** The ids of the tickets, in the same order. */
  ids: number[];
  /** The window has all keys from this one on; undefined if it begins with the queue. */
  low: string | undefined;
  /** The window has all keys up to this one; undefined if it ends with the queue. */
  high: string | undefined;
}

/** The keys around a position, each list beginning at the position. A ticket at the position itself comes after it. */
export interface KeysAround {
  before: readonly string[];
  after: readonly string[];
}

/** Makes a window of the keys that were found, of at most `width` before the position and one more after it. */
export function queueWindow({ before, after }: KeysAround, width: number, readAt: number): QueueWindow {
  const keys = [...before.toReversed(), ...after];
  return {
    readAt,
    keys,
    ids: keys.map(idOfQueueKey),
    low: before.length < width ? undefined : before.at(-1),
    high: after.length <= width ? undefined : after.at(-1),
  };
}

/** The position of a ticket, which may be in the queue or not. */
export interface QueuePosition {
  id: number;
  key: string;
}

/**
 * The id before a position, null if there is none; undefined if the window does not have it. The earlier position of
 * the ticket itself does not count.
 */
export function idBefore(window: QueueWindow, { id, key }: QueuePosition): number | null | undefined {
  if (!isWithin(window, key)) return undefined;
  let index = findIndex(window.keys, key) - 1;
  if (window.ids[index] === id) index -= 1;
  return window.ids[index] ?? (window.low === undefined ? null : undefined);
}

/** The same for the id after a position. */
export function idAfter(window: QueueWindow, { id, key }: QueuePosition): number | null | undefined {
  if (!isWithin(window, key)) return undefined;
  let index = findIndex(window.keys, key);
  if (window.ids[index] === id) index += 1;
  return window.ids[index] ?? (window.high === undefined ? null : undefined);
}

/** Moves a ticket to its new position, or out of the queue. */
export function moveInWindow(window: QueueWindow, id: number, key: string | undefined): void {
  const { keys, ids } = window;
  const from = ids.indexOf(id);
  if (from >= 0) {
    if (keys[from] === key) return;
    keys.splice(from, 1);
    ids.splice(from, 1);
  }
  if (key === undefined || !isWithin(window, key)) return;
  const to = findIndex(keys, key);
  keys.splice(to, 0, key);
  ids.splice(to, 0, id);
}

function isWithin({ low, high }: QueueWindow, key: string): boolean {
  return (low === undefined || low <= key) && (high === undefined || key <= high);
}

/** The index of the first key that is not before a position. */
function findIndex(keys: readonly string[], key: string): number {
  let from = 0;
  let to = keys.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((keys[middle] ?? '') < key) from = middle + 1;
    else to = middle;
  }
  return from;
}
