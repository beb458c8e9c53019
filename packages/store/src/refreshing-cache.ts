const freshMs = 5_000;
const maxAgeMs = 60_000;
const maxCached = 10_000;

/** The items that this process has recently read or written, by id. */
export interface RefreshingCache<Item> {
  /** Caches an item that is newer than any that was read before. */
  set(item: Item): void;
  find(ids: readonly number[]): Promise<ReadonlyMap<number, Item>>;
}

/**
 * Caches the items that `read` returns. An item is used for 5 seconds; an older one is still used, for a minute at
 * most, and read again in the background, so that callers seldom wait.
 */
export function refreshingCache<Item extends { id: number }>(
  read: (ids: readonly number[]) => Promise<Item[]>,
  now: () => number,
): RefreshingCache<Item> {
  const cache = new Map<number, { item: Item; readAt: number }>();
  const refreshInBackground = onceAtATime(refresh);

  function set(item: Item, readAt = now()): void {
    if (cache.size >= maxCached) cache.clear();
    cache.set(item.id, { item, readAt });
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
        else items.set(id, cached.item);
        if (ageMs > freshMs && ageMs <= maxAgeMs) old.push(id);
      }
      if (old.length > 0) refreshInBackground(old);
      for (const item of missing.length > 0 ? await refresh(missing) : []) items.set(item.id, item);
      return items;
    },
  };
}

/** Runs `refresh` in the background, unless it is running already. After a failure, the next call tries again. */
function onceAtATime(refresh: (ids: readonly number[]) => Promise<unknown>): (ids: readonly number[]) => void {
  let isRefreshing = false;
  return (ids) => {
    if (isRefreshing) return;
    isRefreshing = true;
    refresh(ids)
      .catch(() => undefined)
      .finally(() => {
        isRefreshing = false;
      });
  };
}
