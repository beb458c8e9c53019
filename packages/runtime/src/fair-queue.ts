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
  /** Removes the oldest item of the key whose turn it is. */
  take(): Item | undefined;
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
    take() {
      const [turn] = byKey;
      if (!turn) return undefined;
      const [key, waiting] = turn;
      const taken = waiting.items.shift();
      byKey.delete(key);
      if (waiting.items.length > 0) byKey.set(key, waiting);
      if (!taken) return undefined;
      waiting.bytes -= taken.bytes;
      count -= 1;
      allBytes -= taken.bytes;
      return taken.item;
    },
  };
}
