import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemRuntime } from './runtime.ts';
import { timeOrderedId } from './time-ordered-id.ts';

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
