/** Random numbers whose sequence depends on the seed only. */
export interface Random {
  /** A number from 0 to 1, without 1. */
  next(): number;
  /** A whole number from 0 to `bound`, without `bound`. */
  below(bound: number): number;
  /** A random item of a list; undefined if the list is empty. */
  pick<Item>(items: readonly Item[]): Item | undefined;
}

/** Makes random numbers from a seed, by the algorithm mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number) => Math.floor(next() * bound);
  return { next, below, pick: (items) => items[below(items.length)] };
}
