/** How much may wait in a queue, together and for each key. Units: bytes as the items say. */
export interface QueueLimits {
  maxItems: number;
  maxBytes: number;
  maxItemsPerKey: number;
  maxBytesPerKey: number;
}

/** Items that wait. The keys are served in turn, so that one with many items delays the others by one item each. */
export interface FairQueue<Item> {
  /** Returns false if a limit is reached. One item alone may have more bytes than the limits of bytes. */
  add(key: string, bytes: number, item: Item): boolean;
  /** Removes the oldest item of the first key in turn whose oldest item may be taken now; the other keys keep their turn. */
  take(mayTake?: (item: Item) => boolean): Item | undefined;
}

interface Waiting<Item> {
  items: { item: Item; bytes: number }[];
  bytes: number;
}

/** Opens a queue. A key without items takes no memory. */
export function fairQueue<Item>(limits: QueueLimits): FairQueue<Item> {
  /** In the order of their turns. */
  const byKey = new Map<string, Waiting<Item>>();
  let count = 0;
  let allBytes = 0;
  const isFull = (bytes: number, ofKey: Waiting<Item> | undefined) =>
    count >= limits.maxItems ||
    (count > 0 && allBytes + bytes > limits.maxBytes) ||
    (ofKey?.items.length ?? 0) >= limits.maxItemsPerKey ||
    (ofKey !== undefined && ofKey.bytes + bytes > limits.maxBytesPerKey);
  return {
    add(key, bytes, item) {
      const known = byKey.get(key);
      if (isFull(bytes, known)) return false;
      const waiting = known ?? { items: [], bytes: 0 };
      waiting.items.push({ item, bytes });
      waiting.bytes += bytes;
      count += 1;
      allBytes += bytes;
      byKey.set(key, waiting);
      return true;
    },
    take(mayTake = () => true) {
      for (const [key, waiting] of byKey) {
        const [oldest] = waiting.items;
        if (!oldest || !mayTake(oldest.item)) continue;
        waiting.items.shift();
        byKey.delete(key);
        if (waiting.items.length > 0) byKey.set(key, waiting);
        waiting.bytes -= oldest.bytes;
        count -= 1;
        allBytes -= oldest.bytes;
        return oldest.item;
      }
      return undefined;
    },
  };
}
