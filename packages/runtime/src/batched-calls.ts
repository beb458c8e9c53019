import { setImmediate } from 'node:timers/promises';

interface WaitingCall<Item, Result> {
  item: Item;
  resolve(result: Result | Promise<Result>): void;
  reject(error: unknown): void;
}

/** How calls are batched. */
export interface BatchOptions {
  /** Whether an error of a batch is one of the calls that wait, too. */
  failsAll?(error: unknown): boolean;
  /** The most calls of a batch. */
  atMost?: number;
}

/**
 * Makes a function that batches concurrent calls: those that are made at about the same time, or while a batch is running,
 * are answered by one call of `run`, which returns their results in order, or promises of them. If it fails, all of them
 * fail; if `failsAll` says so, the calls that wait do too.
 */
export function batchedCalls<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
  { failsAll = () => false, atMost = Number.POSITIVE_INFINITY }: BatchOptions = {},
): (item: Item) => Promise<Result> {
  const waiting: WaitingCall<Item, Result>[] = [];
  let isRunning = false;

  async function runAll(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      await setImmediate();
      let batch = waiting.splice(0, atMost);
      try {
        const results = await run(batch.map(({ item }) => item));
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result | Promise<Result>);
      } catch (error) {
        if (failsAll(error)) batch = batch.concat(waiting.splice(0));
        for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isRunning) void runAll();
    });
}
