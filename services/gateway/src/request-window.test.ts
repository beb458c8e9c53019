import { expect, it } from 'vitest';
import { requestWindow } from './request-window.ts';

it('counts up to the limit and beyond it, within a minute of the first', () => {
  let clock = 0;
  const window = requestWindow(() => clock);
  expect(window.count('a', 2)).toEqual({ limit: 2, remaining: 1, resetSeconds: 60, isExceeded: false });
  clock = 59_999;
  expect(window.count('a', 2)).toEqual({ limit: 2, remaining: 0, resetSeconds: 1, isExceeded: false });
  expect(window.count('a', 2)).toMatchObject({ remaining: 0, isExceeded: true });
  expect(window.count('b', 2)).toMatchObject({ remaining: 1 });
  clock = 60_000;
  expect(window.count('a', 2)).toEqual({ limit: 2, remaining: 1, resetSeconds: 60, isExceeded: false });
});

it('looks without counting', () => {
  const window = requestWindow(() => 0);
  expect(window.look('a', 1)).toMatchObject({ remaining: 1 });
  window.count('a', 1);
  expect(window.look('a', 1)).toMatchObject({ remaining: 0, isExceeded: false });
});

it('forgets the oldest key when there are too many', () => {
  const window = requestWindow(() => 0);
  for (let key = 0; key <= 100_000; key += 1) window.count(String(key), 5);
  expect(window.look('0', 5).remaining).toBe(5);
  expect(window.look('1', 5).remaining).toBe(4);
});
