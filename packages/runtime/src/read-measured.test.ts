import { expect, test } from 'vitest';
import { readMeasured } from './read-measured.ts';

test('a value is read, unless the read fails or takes too long', async () => {
  expect(await readMeasured(async () => 0)).toBe(0);
  expect(await readMeasured(() => Promise.reject(new Error('unavailable')))).toBeUndefined();
  const thrown = () => {
    throw new Error('closed');
  };
  expect(await readMeasured(thrown)).toBeUndefined();
  expect(await readMeasured(() => new Promise(() => undefined), 5)).toBeUndefined();
});
