import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventLoopTurns } from './event-loop-turns.ts';

test('as many pieces of work as a turn has room for begin at once, and the next ones in the next turns', async () => {
  const turns = eventLoopTurns(3);
  const key = {};
  let begun = 0;
  for (let count = 0; count < 8; count++) void turns.wait(key).then(() => begun++);
  const seen: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    await Promise.resolve();
    await Promise.resolve();
    seen.push(begun);
    await setImmediate();
  }
  expect(seen).toEqual([3, 6, 8, 8]);
});

// guarantee: A7
test('a key with much work delays another one by one piece', async () => {
  const turns = eventLoopTurns(1);
  const [busy, other] = [{}, {}];
  const order: string[] = [];
  const begin = (key: object, name: string) => turns.wait(key).then(() => void order.push(name));
  const all = [begin(busy, 'a1'), begin(busy, 'a2'), begin(busy, 'a3'), begin(busy, 'a4'), begin(other, 'b1')];
  await Promise.all(all);
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
});

test('work that comes in later turns does not wait', async () => {
  const turns = eventLoopTurns(1);
  for (let turn = 0; turn < 3; turn++) {
    let hasBegun = false;
    void turns.wait({}).then(() => {
      hasBegun = true;
    });
    await Promise.resolve();
    await Promise.resolve();
    expect(hasBegun).toBe(true);
    // Two turns end: one that has begun work, and one that has not.
    await setImmediate();
    await setImmediate();
  }
});
