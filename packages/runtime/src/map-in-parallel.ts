/**
 * Does some work for each item, for at most `atOnce` of them at a time, which are begun in their order. Returns the results
 * in the order of the items. Errors: the first one of `work`; items that were not begun by then may still be.
 */
export async function mapInParallel<Item, Result>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  // One iterator for all workers: each takes the next item from it.
  const remaining = [...items].entries();
  const workOff = async () => {
    for (const [index, item] of remaining) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: atOnce }, workOff));
  return results;
}
