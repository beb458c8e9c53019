import { EventEmitter } from 'node:events';
import type { DomainError } from '@ticketing/errors/domain-error.ts';
import { byteBudget } from '@ticketing/runtime/byte-budget.ts';
import { expect, test } from 'vitest';
import {
  isLargePage,
  maxOpenBytesAtOnce,
  maxPageBytes,
  openPageBudget,
  requirePageSize,
  smallPageBytes,
} from './page-budget.ts';

const request = (signal = new AbortController().signal) => {
  const events = new EventEmitter();
  const end = () => events.emit('end');
  return { signal, onEnd: (done: () => void) => void events.once('end', done), end, endResponse: () => void end() };
};

test('a page holds its bytes until its request ends; a small page holds none', async () => {
  const bytes = byteBudget({ total: 2 * maxPageBytes, perKey: maxPageBytes });
  const pages = openPageBudget(bytes, 60_000);
  const small = request();
  await pages.take('a', smallPageBytes, small);
  expect(bytes.used()).toBe(0);
  const large = request();
  await pages.take('a', smallPageBytes + 1, large);
  expect(bytes.used()).toBe(smallPageBytes + 1);
  const next = request();
  const waiting = pages.take('a', maxPageBytes, next);
  large.end();
  await waiting;
  expect(bytes.used()).toBe(maxPageBytes);
  next.end();
  expect(bytes.used()).toBe(0);
});

test('one that waits too long is refused, and holds nothing', async () => {
  const bytes = byteBudget({ total: 2 * maxPageBytes, perKey: maxPageBytes });
  const pages = openPageBudget(bytes, 5);
  const held = request();
  await pages.take('a', maxPageBytes, held);
  const refused = await pages.take('a', smallPageBytes + 1, request()).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'unavailable', reason: 'too_much_at_once', retryAfterSeconds: 2 });
  await pages.take('b', maxPageBytes, request());
  held.end();
  expect(bytes.used()).toBe(maxPageBytes);
});

test('a request whose caller has gone stops waiting with the reason of its signal', async () => {
  const bytes = byteBudget({ total: 2 * maxPageBytes, perKey: maxPageBytes });
  const pages = openPageBudget(bytes, 60_000);
  await pages.take('a', maxPageBytes, request());
  const gone = new AbortController();
  const waiting = pages.take('a', maxPageBytes, request(gone.signal));
  gone.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
});

test('a request whose caller has gone before takes nothing', async () => {
  const bytes = byteBudget({ total: 2 * maxPageBytes, perKey: maxPageBytes });
  const gone = AbortSignal.abort(new Error('gone'));
  await expect(openPageBudget(bytes).take('a', maxPageBytes, request(gone))).rejects.toThrow('gone');
  expect(bytes.used()).toBe(0);
});

test('a response that is not read in time is ended, and gives its bytes back', async () => {
  const bytes = byteBudget({ total: 2 * maxPageBytes, perKey: maxPageBytes });
  const pages = openPageBudget(bytes, 60_000, 20);
  await pages.take('a', maxPageBytes, request());
  await pages.take('a', maxPageBytes, request());
  await expect.poll(() => bytes.used()).toBe(0);
});

const limitOf = (sizes: readonly number[], openSizes?: readonly number[]) => {
  try {
    requirePageSize(sizes, openSizes);
    return undefined;
  } catch (error) {
    const { code, reason, violations, message } = error as DomainError;
    expect([code, reason, violations[0]?.pointer]).toEqual(['invalid_argument', 'page_too_large', '#/limit']);
    return Number(/^#\/limit: is too large: .* a limit of (\d+) fits$/.exec(message)?.[1]);
  }
};

test('a page of exactly the limit fits, and one byte more does not; the error names a limit that fits', () => {
  expect(limitOf([])).toBeUndefined();
  expect(limitOf([maxPageBytes - 1, 1])).toBeUndefined();
  expect(limitOf([maxPageBytes - 1, 1, 1, 5])).toBe(2);
  expect(limitOf([maxPageBytes, 1])).toBe(1);
});

test('one item always fits', () => {
  expect(limitOf([maxPageBytes + 1])).toBeUndefined();
  expect(limitOf([maxPageBytes + 1, 1])).toBe(1);
});

test('objects of open shape have a limit of their own; the error names a limit that fits both', () => {
  expect(limitOf([9, 9], [maxOpenBytesAtOnce, 0])).toBeUndefined();
  expect(limitOf([9, 9, 9], [1, maxOpenBytesAtOnce - 1, 1])).toBe(2);
  expect(limitOf([9, 9], [maxOpenBytesAtOnce + 1, 0])).toBe(1);
  expect(limitOf([9], [maxOpenBytesAtOnce + 1])).toBeUndefined();
  expect(limitOf([9, maxPageBytes, 9], [0, 0, maxOpenBytesAtOnce + 1])).toBe(1);
  expect(limitOf([9, 9, maxPageBytes], [0, maxOpenBytesAtOnce + 1, 0])).toBe(1);
});

test('a page is large from one byte above the limit of small pages', () => {
  expect([isLargePage([smallPageBytes]), isLargePage([smallPageBytes, 1])]).toEqual([false, true]);
});
