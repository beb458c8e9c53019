import { expect, test, vi } from 'vitest';
import { systemRuntime } from './runtime.ts';

test('the monotonic clock goes on when the date of the machine is set back', () => {
  const before = systemRuntime.monotonicMs();
  const date = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(date - 3_600_000);
  expect(systemRuntime.now()).toBeLessThan(date);
  expect(systemRuntime.monotonicMs()).toBeGreaterThanOrEqual(before);
});
