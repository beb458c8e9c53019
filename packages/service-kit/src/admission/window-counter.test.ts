import { expect, it } from 'vitest';
import { windowCounter } from './window-counter.ts';

it('counts up to the limit and beyond it, in a window of one minute from the first count', () => {
  let clock = 0;
  const counter = windowCounter(() => clock);
  expect(counter.count('a', 2)).toEqual({ limit: 2, remaining: 1, resetSeconds: 60, isExceeded: false });
  clock = 59_999;
  expect(counter.count('a', 2)).toEqual({ limit: 2, remaining: 0, resetSeconds: 1, isExceeded: false });
  expect(counter.count('a', 2)).toMatchObject({ remaining: 0, isExceeded: true });
  expect(counter.count('b', 2)).toMatchObject({ remaining: 1 });
  clock = 60_000;
  expect(counter.count('a', 2)).toEqual({ limit: 2, remaining: 1, resetSeconds: 60, isExceeded: false });
});

it('peek returns the count without changing it', () => {
  const counter = windowCounter(() => 0);
  expect(counter.peek('a', 1)).toMatchObject({ remaining: 1 });
  counter.count('a', 1);
  expect(counter.peek('a', 1)).toMatchObject({ remaining: 0, isExceeded: false });
});

it('drops the oldest key when there are too many', () => {
  const counter = windowCounter(() => 0);
  for (let key = 0; key <= 100_000; key += 1) counter.count(String(key), 5);
  expect(counter.peek('0', 5).remaining).toBe(5);
  expect(counter.peek('1', 5).remaining).toBe(4);
});
