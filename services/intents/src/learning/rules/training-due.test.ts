import { expect, test } from 'vitest';
import { isTrainingDue, maxAgeMs, minChanges } from './training-due.ts';

const minute = 60_000;
const model = { trainedAt: 0, durationMs: 5_000, erasures: 3 };
const some = { changed: 1, erasures: 3 };
const many = { changed: minChanges, erasures: 3 };

test('many changes are learned after ten minutes, and one fewer not', () => {
  expect(isTrainingDue(model, many, 10 * minute)).toBe(true);
  expect(isTrainingDue(model, many, 10 * minute - 1)).toBe(false);
  expect(isTrainingDue(model, { ...many, changed: minChanges - 1 }, 10 * minute)).toBe(false);
});

test('after a long training the pause is twenty times as long, but no longer than six hours', () => {
  const slow = { ...model, durationMs: 2 * minute };
  expect(isTrainingDue(slow, many, 40 * minute - 1)).toBe(false);
  expect(isTrainingDue(slow, many, 40 * minute)).toBe(true);
  expect(isTrainingDue({ ...model, durationMs: 30 * minute }, many, maxAgeMs)).toBe(true);
});

test('a few changes, and erasures, are learned when the model is six hours old', () => {
  const erased = { changed: 0, erasures: 4 };
  for (const material of [some, erased]) {
    expect(isTrainingDue(model, material, maxAgeMs - 1)).toBe(false);
    expect(isTrainingDue(model, material, maxAgeMs)).toBe(true);
  }
});

test('without any change nothing is learned again', () => {
  expect(isTrainingDue(model, { changed: 0, erasures: 3 }, 100 * maxAgeMs)).toBe(false);
});
