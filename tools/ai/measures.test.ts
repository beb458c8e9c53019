import { expect, test } from 'vitest';
import { byFrequency, calibrationError, macroF1, microQuality, percentile, qualities } from './measures.ts';

test('confidences that are right as often as they say have no calibration error', () => {
  const claims = (confidence: number, right: number) =>
    Array.from({ length: 10 }, (_, index) => ({ confidence, isRight: index < right }));
  expect(calibrationError([...claims(0.7, 7), ...claims(0.2, 2)])).toBeCloseTo(0, 10);
  expect(calibrationError(claims(1, 5))).toBeCloseTo(0.5, 10);
  expect(calibrationError([...claims(0.7, 10), ...claims(0.4, 4)])).toBeCloseTo(0.15, 10);
  expect(calibrationError([])).toBe(0);
});

test('rare labels count as much as frequent ones in the macro F1', () => {
  // Of a: precision 2/3, recall 1. Of b: precision 1, recall 1/2.
  expect(macroF1(['a', 'a', 'a', 'b'], ['a', 'a', 'b', 'b'])).toBeCloseTo((0.8 + 2 / 3) / 2, 10);
  expect(macroF1(['a', 'a'], ['a', 'b'])).toBeCloseTo(1 / 3, 10);
  expect(qualities(['a'], ['b']).get('a')).toEqual({ examples: 0, precision: 0, recall: null });
});

test('the micro quality counts all labels of all tickets together', () => {
  const found = [new Set([0, 1]), new Set<number>()];
  const right = [new Set([0]), new Set([1, 2])];
  expect(microQuality(found, right, [0, 1])).toEqual({ examples: 2, precision: 1 / 2, recall: 1 / 2 });
});

test('percentiles are of sorted values', () => {
  const values = Array.from({ length: 100 }, (_, index) => 99 - index);
  expect([percentile(values, 0.5), percentile(values, 0.95), percentile([], 0.5)]).toEqual([50, 95, 0]);
});

test('the first of values that are equally frequent is first', () => {
  expect(byFrequency(['b', 'a', 'c', 'a', 'b'])).toEqual([
    ['b', 2],
    ['a', 2],
    ['c', 1],
  ]);
});
