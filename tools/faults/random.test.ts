import { expect, test } from 'vitest';
import { seededRandom } from './random.ts';

test('makes the same numbers for the same seed, and different ones for different seeds', () => {
  const choices = (seed: number) => {
    const random = seededRandom(seed);
    return Array.from({ length: 20 }, () => random.below(1000));
  };
  expect(choices(1)).toEqual(choices(1));
  expect(choices(1)).not.toEqual(choices(2));
});

test('picks every item of a list, and undefined from an empty one', () => {
  const random = seededRandom(3);
  expect(new Set(Array.from({ length: 100 }, () => random.pick(['a', 'b', 'c'])))).toEqual(new Set(['a', 'b', 'c']));
  expect(random.pick([])).toBeUndefined();
});
