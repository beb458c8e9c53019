import { expect, test } from 'vitest';
import { seededRandom } from './random.ts';

test('chooses the same for the same seed, and another for another', () => {
  const choices = (seed: number) => {
    const random = seededRandom(seed);
    return Array.from({ length: 20 }, () => random.below(1000));
  };
  expect(choices(1)).toEqual(choices(1));
  expect(choices(1)).not.toEqual(choices(2));
});

test('picks every one of a list, and nothing else', () => {
  const random = seededRandom(3);
  expect(new Set(Array.from({ length: 100 }, () => random.pick(['a', 'b', 'c'])))).toEqual(new Set(['a', 'b', 'c']));
  expect(random.pick([])).toBeUndefined();
});
