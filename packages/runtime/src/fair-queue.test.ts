import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FairQueue, fairQueue } from './fair-queue.ts';

const many = { maxItems: 100, maxBytes: 1000, maxItemsPerKey: 100, maxBytesPerKey: 1000 };
const takeAll = (queue: FairQueue<string>) => {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
};

// guarantee: H2
// asvs: 15.4.4
test('keys are served in turn, and the items of a key in order', () => {
  const queue = fairQueue<string>(many);
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.add(item.charAt(0), 1, item);
  expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('a key whose oldest item may not be taken keeps its turn, and lets the others pass', () => {
  const queue = fairQueue<string>(many);
  for (const item of ['a1', 'a2', 'b1', 'c1']) queue.add(item.charAt(0), 1, item);
  const without = (held: string) => queue.take((item) => item !== held);
  expect([without('a1'), without('a1'), without('a1')]).toEqual(['b1', 'c1', undefined]);
  queue.add('b', 1, 'b2');
  expect(takeAll(queue)).toEqual(['a1', 'b2', 'a2']);
});

// guarantee: H2
test('a key takes its limit of items and of bytes, and others go on', () => {
  const queue = fairQueue<string>({ ...many, maxItemsPerKey: 2, maxBytesPerKey: 10 });
  expect([queue.add('a', 5, 'a1'), queue.add('a', 6, 'no'), queue.add('a', 5, 'a2')]).toEqual([true, false, true]);
  expect([queue.add('a', 0, 'no'), queue.add('b', 10, 'b1'), queue.add('b', 1, 'no')]).toEqual([false, true, false]);
  expect(takeAll(queue)).toEqual(['a1', 'b1', 'a2']);
  expect(queue.add('a', 10, 'a3')).toBe(true);
});

test('all keys together take the limit of items and of bytes', () => {
  const items = fairQueue<string>({ ...many, maxItems: 2 });
  expect([items.add('a', 1, ''), items.add('b', 1, ''), items.add('c', 1, '')]).toEqual([true, true, false]);
  const bytes = fairQueue<string>({ ...many, maxBytes: 10 });
  expect([bytes.add('a', 5, ''), bytes.add('b', 6, ''), bytes.add('c', 5, '')]).toEqual([true, false, true]);
});

test('an item that waits alone may have more bytes than the limits', () => {
  const queue = fairQueue<string>({ ...many, maxBytes: 10, maxBytesPerKey: 5 });
  expect([queue.add('a', 11, 'a1'), queue.add('b', 0, 'b1'), queue.take()]).toEqual([true, false, 'a1']);
  expect([queue.add('a', 6, 'a2'), queue.add('a', 0, 'no')]).toEqual([true, false]);
});

test('everything that was added is taken once, in any order of adding and taking', () => {
  const step = fc.record({ key: fc.constantFrom('a', 'b', 'c'), bytes: fc.nat(8), takes: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = fairQueue<string>({ maxItems: 6, maxBytes: 20, maxItemsPerKey: 3, maxBytesPerKey: 10 });
      const added: string[] = [];
      const taken: string[] = [];
      for (const [nth, { key, bytes, takes }] of steps.entries()) {
        const item = takes ? queue.take() : undefined;
        if (item !== undefined) taken.push(item);
        if (queue.add(key, bytes, `${nth}`)) added.push(`${nth}`);
        expect(added.length - taken.length).toBeLessThanOrEqual(6);
      }
      taken.push(...takeAll(queue));
      expect(taken.toSorted()).toEqual(added.toSorted());
      expect(queue.add('a', 10, 'again')).toBe(true);
    }),
  );
});
