import { expect, test } from 'vitest';
import { mailPauseMs } from './attempt.ts';

const minute = 60_000;

test('attempts are 1 min, 5 min, 30 min, 2 h, 8 h and 24 h apart, then end', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7].map((attempts) => mailPauseMs(attempts, 0.5));
  expect(pauses).toEqual([...[1, 5, 30, 120, 480, 1440].map((minutes) => minutes * minute), undefined]);
});

test('a pause is up to a fifth shorter or longer', () => {
  expect(mailPauseMs(1, 0)).toBe(48_000);
  expect(mailPauseMs(1, 1)).toBe(72_000);
});
