import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byteBudget } from './byte-budget.ts';

test('a key takes bytes up to its limit, and no byte more', () => {
  const budget = byteBudget({ total: 100, perKey: 10 });
  const release = budget.tryAcquire('a', 6);
  expect(budget.tryAcquire('a', 5)).toBeUndefined();
  expect(budget.tryAcquire('a', 4)).toBeDefined();
  expect(budget.tryAcquire('a', 1)).toBeUndefined();
  expect(budget.tryAcquire('b', 10)).toBeDefined();
  expect(budget.used()).toBe(20);
  release?.();
  expect(budget.tryAcquire('a', 7)).toBeUndefined();
  expect(budget.tryAcquire('a', 6)).toBeDefined();
});

test('all keys together take bytes up to the total, and no byte more', () => {
  const budget = byteBudget({ total: 15, perKey: 10 });
  const release = budget.tryAcquire('a', 10);
  expect(budget.tryAcquire('b', 6)).toBeUndefined();
  expect(budget.tryAcquire('b', 5)).toBeDefined();
  expect(budget.tryAcquire('c', 1)).toBeUndefined();
  expect(budget.tryAcquire('c', 0)).toBeDefined();
  release?.();
  expect(budget.tryAcquire('c', 10)).toBeDefined();
});

test('bytes are given back once, however often their function is called', () => {
  const budget = byteBudget({ total: 10, perKey: 10 });
  const release = budget.tryAcquire('a', 4);
  expect(budget.tryAcquire('a', 6)).toBeDefined();
  release?.();
  release?.();
  expect(budget.used()).toBe(6);
  expect(budget.tryAcquire('a', 5)).toBeUndefined();
});

// guarantee: B4
test('the limits hold in any order of acquisitions and releases, and nothing is left at the end', () => {
  const step = fc.record({ key: fc.constantFrom('a', 'b', 'c'), bytes: fc.nat(8), releases: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const budget = byteBudget({ total: 20, perKey: 12 });
      const held: { key: string; bytes: number; release: () => void }[] = [];
      const sum = (key?: string) =>
        held.filter((one) => key === undefined || one.key === key).reduce((all, { bytes }) => all + bytes, 0);
      for (const { key, bytes, releases } of steps) {
        if (releases) held.shift()?.release();
        const fits = sum() + bytes <= 20 && sum(key) + bytes <= 12;
        const release = budget.tryAcquire(key, bytes);
        expect(release !== undefined).toBe(fits);
        if (release) held.push({ key, bytes, release });
        expect(budget.used()).toBe(sum());
      }
      for (const { release } of held) release();
      expect(budget.used()).toBe(0);
    }),
  );
});

const never = new AbortController().signal;

test('those who wait get bytes in turn; one whose key is at its limit lets others pass', async () => {
  const budget = byteBudget({ total: 20, perKey: 10 });
  const order: string[] = [];
  const wait = async (name: string, key: string, bytes: number) => {
    const release = await budget.acquire(key, bytes, never);
    order.push(name);
    return release;
  };
  const first = await wait('a1', 'a', 10);
  const second = await wait('b1', 'b', 10);
  const third = wait('a2', 'a', 10);
  const fourth = wait('c1', 'c', 6);
  const fifth = wait('c2', 'c', 4);
  second();
  await Promise.all([fourth, fifth]);
  expect(order).toEqual(['a1', 'b1', 'c1', 'c2']);
  first();
  const releases = await Promise.all([third, fourth, fifth]);
  expect(order.at(-1)).toBe('a2');
  for (const release of releases) release();
  expect(budget.used()).toBe(0);
});

test('one who no longer waits gets nothing, and those behind it are served', async () => {
  const budget = byteBudget({ total: 10, perKey: 10 });
  const held = await budget.acquire('a', 4, never);
  const disconnecting = new AbortController();
  const large = budget.acquire('b', 10, disconnecting.signal);
  const small = budget.acquire('c', 7, never);
  disconnecting.abort(new Error('gone'));
  await expect(large).rejects.toThrow('gone');
  await expect(budget.acquire('d', 1, disconnecting.signal)).rejects.toThrow('gone');
  held();
  (await small)();
  expect(budget.used()).toBe(0);
});

test('nobody waits for more bytes than there are', async () => {
  const budget = byteBudget({ total: 10, perKey: 5 });
  await expect(budget.acquire('a', 6, never)).rejects.toThrow(RangeError);
  (await budget.acquire('a', 5, never))();
});

test('a share grows up to the limit of its key, and gives back all of it at once', () => {
  const budget = byteBudget({ total: 15, perKey: 10 });
  const share = budget.open('a');
  for (let piece = 0; piece < 10; piece++) expect(share.tryGrow(1)).toBe(true);
  expect(share.tryGrow(1)).toBe(false);
  expect(budget.tryAcquire('b', 6)).toBeUndefined();
  share.release();
  share.release();
  expect(budget.used()).toBe(0);
});
