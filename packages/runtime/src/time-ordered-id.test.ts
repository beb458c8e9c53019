import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemRuntime } from './runtime.ts';
import { timeOrderedId, timeOrderedIds } from './time-ordered-id.ts';

const at = (now: number) => ({ ...systemRuntime, now: () => now });

test('ids sort by the time they were made', () => {
  const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  fc.assert(
    fc.property(time, time, (left, right) => {
      fc.pre(left !== right);
      expect(timeOrderedId('evt', at(left)) < timeOrderedId('evt', at(right))).toBe(left < right);
    }),
  );
});

test('ids of one moment differ', () => {
  const ids = Array.from({ length: 1000 }, () => timeOrderedId('evt', at(1)));
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids) expect(id).toMatch(/^evt_000000000001[0-9a-f]{20}$/);
});

test('ids of one generator sort in the order in which they were made, also those of one moment', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 50 }), (advances) => {
      let now = 1;
      const next = timeOrderedIds('dlv', {
        ...systemRuntime,
        now: () => now,
        randomBytes: (size) => Buffer.alloc(size, 255),
      });
      const ids = advances.map((advance) => {
        if (advance) now += 1;
        return next();
      });
      expect(ids.toSorted()).toEqual(ids);
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of ids) expect(id).toMatch(/^dlv_[0-9a-f]{32}$/);
    }),
  );
});

test('a generator whose clock goes back makes ids of the earlier time', () => {
  let now = 10;
  const next = timeOrderedIds('dlv', { ...systemRuntime, now: () => now });
  next();
  now = 9;
  expect(next()).toMatch(/^dlv_000000000009/);
});
