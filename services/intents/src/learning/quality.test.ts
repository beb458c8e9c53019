import { expect, test } from 'vitest';
import { bestThreshold } from './quality.ts';

const guesses = (...given: readonly (readonly [number, boolean])[]) =>
  given.map(([probability, isTrue]) => ({ probability, isTrue }));

test('is the probability of the last guess that is worth it', () => {
  expect(bestThreshold(guesses([0.9, true], [0.6, true], [0.4, false], [0.3, false]))).toBe(0.6);
  expect(bestThreshold(guesses([0.9, true], [0.5, false], [0.4, true], [0.2, true], [0.1, false]))).toBe(0.2);
});

test('guesses of the same probability are above it together', () => {
  expect(bestThreshold(guesses([0.5, true], [0.5, false], [0.5, false], [0.2, true]))).toBe(0.2);
});

test('is 0.5 where nothing is right', () => {
  expect(bestThreshold([])).toBe(0.5);
  expect(bestThreshold(guesses([0.9, false]))).toBe(0.5);
});
