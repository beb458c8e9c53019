const freshMs = 5_000;
/** An item of this age is read again with one that is older, so that items which are in use get the same age. */
const youngestMs = 2_500;
const maxAgeMs = 60_000;
const maxCached = 10_000;
const maxRefreshed = 500;

/** An item, when it was read, and whether it was used since. */
interface Cached<Item> {
  item: Item;
  readAt: number;
  isUsed: boolean;
}

/** The items that this process has recently read or written, by id. */
export interface RefreshingCache<Item> {
  /** Caches an item that is newer than any that was read before. */
  set(item: Item): void;
  find(ids: readonly number[]): Promise<ReadonlyMap<number, Item>>;
}

/**
 * Caches the items that `read` returns. An item is used for 5 seconds; an older one is still used, for a minute at
 * most, and read again in the background, so that callers seldom wait. With it, others are read that have half of its age
 * and were used since they were read.
 */
export function refreshingCache<Item extends { id: number }>(
  read: (ids: readonly number[]) => Promise<Item[]>,
  now: () => number,
): RefreshingCache<Item> {
  /** In the order in which they were read. */
  const cache = new Map<number, Cached<Item>>();
  const refreshInBackground = onceAtATime(refresh);

  function set(item: Item, readAt = now()): void {
    if (cache.size >= maxCached) cache.clear();
    cache.delete(item.id);
    cache.set(item.id, { item, readAt, isUsed: false });
  }

  /** Reads items and caches them, except those that were set in the meantime. */
  async function refresh(ids: readonly number[]): Promise<Item[]> {
    const startedAt = now();
    const found = await read(ids);
    return found.map((item) => {
      const cached = cache.get(item.id);
      if (cached && cached.readAt > startedAt) return cached.item;
      set(item, startedAt);
      return item;
    });
  }

  /** Adds the ids of other items that will soon be old and are in use, and drops those that are too old to be used. */
  function withOthers(old: readonly number[]): number[] {
    const ids = new Set(old.slice(0, maxRefreshed));
    for (const [id, { readAt, isUsed }] of cache) {
      const ageMs = now() - readAt;
      if (ageMs < youngestMs || ids.size >= maxRefreshed) break;
      if (ageMs > maxAgeMs) cache.delete(id);
      else if (isUsed) ids.add(id);
    }
    return [...ids];
  }

  return {
    set: (item) => set(item),
    async find(ids) {
      const items = new Map<number, Item>();
      const missing: number[] = [];
      const old: number[] = [];
      for (const id of new Set(ids)) {
        const cached = cache.get(id);
        const ageMs = cached ? now() - cached.readAt : Number.POSITIVE_INFINITY;
        if (!cached || ageMs > maxAgeMs) missing.push(id);
        else {
          items.set(id, cached.item);
          cached.isUsed = true;
        }
        if (ageMs > freshMs && ageMs <= maxAgeMs) old.push(id);
      }
      if (old.length > 0) refreshInBackground(() => withOthers(old));
      for (const item of missing.length > 0 ? await refresh(missing) : []) items.set(item.id, item);
      return items;
    },
  };
}

/** Runs `refresh` in the background, unless it is running already. After a failure, the next call tries again. */
function onceAtATime(
  refresh: (ids: readonly number[]) => Promise<unknown>,
): (idsToRefresh: () => readonly number[]) => void {
  let isRefreshing = false;
  return (idsToRefresh) => {
    if (isRefreshing) return;
    isRefreshing = true;
    refresh(idsToRefresh())
      .catch(() => undefined)
      .finally(() => {
        isRefreshing = false;
      });
  };
}
