import { expect, test } from 'vitest';
import { inFlight } from './in-flight.ts';

test('gives as many places to a key as there are, and each again when it is left', () => {
  const places = inFlight();
  const [first, second] = [places.enter('a', 2), places.enter('a', 2)];
  expect([typeof first, typeof second]).toEqual(['function', 'function']);
  expect(places.enter('a', 2)).toBeUndefined();
  expect(places.enter('b', 2)).toBeDefined();
  first?.();
  expect(places.enter('a', 2)).toBeDefined();
  expect(places.enter('a', 2)).toBeUndefined();
});
