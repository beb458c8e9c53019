import { expect, test } from 'vitest';
import { numbersFrom } from '../../test/synthetic-tickets.ts';
import { calibrate, toProbability } from './calibration.ts';

test('finds the calibration by which outcomes were drawn', () => {
  const next = numbersFrom(3);
  const scores = Array.from({ length: 20_000 }, () => 6 * next() - 3);
  const truth = scores.map((score) => next() < toProbability(score, { slope: 1.7, offset: -0.8 }));
  const found = calibrate(scores, truth);
  expect(found.slope).toBeCloseTo(1.7, 0);
  expect(found.offset).toBeCloseTo(-0.8, 0);
  const sum = scores.reduce((total, score) => total + toProbability(score, found), 0);
  expect(sum / truth.filter(Boolean).length).toBeCloseTo(1, 2);
});

test('scores that say nothing get the frequency of what is true', () => {
  const truth = Array.from({ length: 100 }, (_, index) => index < 20);
  const found = calibrate(
    truth.map(() => 1),
    truth,
  );
  expect(toProbability(1, found)).toBeCloseTo(0.2, 1);
});

test('few examples that are all true do not make certain', () => {
  const found = calibrate([1, 2, 3], [true, true, true]);
  expect(toProbability(2, found)).toBeCloseTo(0.8, 2);
});

test.each([
  [[], []],
  [[5], [false]],
  [
    [-1e6, 1e6],
    [false, true],
  ],
])('is a probability whatever the scores are: %j', (scores, truth) => {
  const found = calibrate(scores, truth);
  for (const score of [-1e9, -1, 0, 1, 1e9]) {
    const probability = toProbability(score, found);
    expect(probability).toBeGreaterThanOrEqual(0);
    expect(probability).toBeLessThanOrEqual(1);
  }
});
