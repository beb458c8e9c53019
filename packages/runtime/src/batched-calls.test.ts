import { expect, test } from 'vitest';
import { batchedCalls } from './batched-calls.ts';

/** Batches whose ends the test decides. */
function heldBatches(options?: Parameters<typeof batchedCalls>[1]) {
  const batches: { items: readonly number[]; end: PromiseWithResolvers<number[]> }[] = [];
  const call = batchedCalls<number, number>((items) => {
    const end = Promise.withResolvers<number[]>();
    batches.push({ items, end });
    return end.promise;
  }, options);
  const begun = (count: number) => expect.poll(() => batches.length).toBe(count);
  return { batches, call, begun };
}

test('calls of the same moment are one batch, those during a batch the next, and each gets its own result', async () => {
  const { batches, call, begun } = heldBatches();
  const first = [1, 2].map(call);
  await begun(1);
  const next = [3, 4, 5].map(call);
  batches[0]?.end.resolve([10, 20]);
  expect(await Promise.all(first)).toEqual([10, 20]);
  await begun(2);
  batches[1]?.end.resolve([30, 40, 50]);
  expect(await Promise.all(next)).toEqual([30, 40, 50]);
  expect(batches.map(({ items }) => items)).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
});

test('a limit divides the calls that wait into several batches', async () => {
  const { batches, call, begun } = heldBatches({ atMost: 2 });
  const calls = [1, 2, 3].map(call);
  await begun(1);
  batches[0]?.end.resolve([10, 20]);
  await begun(2);
  batches[1]?.end.resolve([30]);
  expect(await Promise.all(calls)).toEqual([10, 20, 30]);
  expect(batches.map(({ items }) => items)).toEqual([[1, 2], [3]]);
});

test.each([
  [false, 'ok'],
  [true, 'no'],
])('a failed batch fails those that wait only if that was asked for: %s', async (failsAll, ofWaiting) => {
  const { batches, call, begun } = heldBatches({ failsAll: () => failsAll });
  const end = (calling: Promise<number>) =>
    calling.then(
      () => 'ok',
      (error: Error) => error.message,
    );
  const first = end(call(1));
  await begun(1);
  const waiting = end(call(2));
  batches[0]?.end.reject(new Error('no'));
  expect(await first).toBe('no');
  if (!failsAll) {
    await begun(2);
    batches[1]?.end.resolve([2]);
  }
  expect(await waiting).toBe(ofWaiting);
  const later = call(3);
  await begun(failsAll ? 2 : 3);
  batches.at(-1)?.end.resolve([3]);
  expect(await later).toBe(3);
});
