import { EventEmitter } from 'node:events';
import type { DomainError } from '@ticketing/errors/domain-error.ts';
import { expect, test, vi } from 'vitest';
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
  return {
    signal,
    onEncoded: (done: () => void) => void events.once('encoded', done),
    onEnd: (done: () => void) => void events.once('end', done),
    endResponse: vi.fn(() => void end()),
    encode: () => events.emit('encoded'),
    end,
  };
};
const none = { reading: 0, sending: 0 };

test('a page holds its bytes until its request ends; a small page holds none', async () => {
  const pages = openPageBudget({ waitMs: 60_000 });
  const small = request();
  await pages.take('a', smallPageBytes, small);
  expect(pages.used()).toEqual(none);
  const large = request();
  await pages.take('a', smallPageBytes + 1, large);
  expect(pages.used()).toEqual({ reading: smallPageBytes + 1, sending: 0 });
  const next = request();
  const waiting = pages.take('a', maxPageBytes, next);
  large.end();
  await waiting;
  expect(pages.used()).toEqual({ reading: maxPageBytes, sending: 0 });
  next.end();
  expect(pages.used()).toEqual(none);
});

// guarantee: B6
test('a response that is encoded keeps only its own caller waiting', async () => {
  const pages = openPageBudget({ waitMs: 20 });
  const slow = [request(), request()];
  await pages.take('a', maxPageBytes, slow[0] ?? request());
  await pages.take('b', maxPageBytes, slow[1] ?? request());
  await expect(pages.take('c', maxPageBytes, request())).rejects.toMatchObject({ reason: 'too_much_at_once' });
  for (const one of slow) one.encode();
  expect(pages.used()).toEqual({ reading: 0, sending: 2 * maxPageBytes });
  await pages.take('c', maxPageBytes, request());
  await expect(pages.take('a', maxPageBytes, request())).rejects.toMatchObject({ reason: 'too_much_at_once' });
  for (const one of slow) one.end();
  expect(pages.used()).toEqual({ reading: maxPageBytes, sending: 0 });
});

// guarantee: B6
test('when too much is being sent, the response that has been sent for the longest is ended', async () => {
  const pages = openPageBudget({ sending: 2 * maxPageBytes });
  const slow = ['a', 'b', 'c'].map((key) => ({ key, ...request() }));
  for (const one of slow) {
    await pages.take(one.key, maxPageBytes, one);
    one.encode();
    expect(pages.used().reading).toBe(0);
  }
  expect(slow.map(({ endResponse }) => endResponse.mock.calls.length)).toEqual([1, 0, 0]);
  expect(pages.used().sending).toBe(2 * maxPageBytes);
  await pages.take('a', maxPageBytes, request());
});

test('a response that is encoded after its client has gone holds nothing', async () => {
  const pages = openPageBudget();
  const gone = request();
  await pages.take('a', maxPageBytes, gone);
  gone.end();
  gone.encode();
  expect(pages.used()).toEqual(none);
});

// guarantee: B4
test('one that waits too long is refused, and holds nothing', async () => {
  const pages = openPageBudget({ waitMs: 5 });
  const held = request();
  await pages.take('a', maxPageBytes, held);
  const refused = await pages.take('a', smallPageBytes + 1, request()).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'unavailable', reason: 'too_much_at_once', retryAfterSeconds: 2 });
  await pages.take('b', maxPageBytes, request());
  await expect(pages.take('c', maxPageBytes, request())).rejects.toMatchObject({ reason: 'too_much_at_once' });
  held.end();
  expect(pages.used()).toEqual({ reading: maxPageBytes, sending: 0 });
  await pages.take('c', maxPageBytes, request());
});

test('a request may wait for longer than others', async () => {
  const pages = openPageBudget({ waitMs: 1 });
  const held = request();
  await pages.take('a', maxPageBytes, held);
  const patient = pages.take('a', maxPageBytes, { ...request(), waitMs: 60_000 });
  await expect(pages.take('a', maxPageBytes, request())).rejects.toMatchObject({ reason: 'too_much_at_once' });
  held.end();
  await patient;
});

test('a request whose caller has gone stops waiting with the reason of its signal', async () => {
  const pages = openPageBudget({ waitMs: 60_000 });
  await pages.take('a', maxPageBytes, request());
  const gone = new AbortController();
  const waiting = pages.take('a', maxPageBytes, request(gone.signal));
  gone.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
});

// guarantee: B7
test('a request whose caller has gone before takes nothing', async () => {
  const pages = openPageBudget();
  const gone = AbortSignal.abort(new Error('gone'));
  await expect(pages.take('a', maxPageBytes, request(gone))).rejects.toThrow('gone');
  expect(pages.used()).toEqual(none);
});

// guarantee: B7
test('a response that is not read in time is ended, and gives its bytes back', async () => {
  const pages = openPageBudget({ waitMs: 60_000, holdMs: 20 });
  await pages.take('a', maxPageBytes, request());
  await pages.take('a', maxPageBytes, request());
  await expect.poll(() => pages.used()).toEqual(none);
});

const chooseLimit = (sizes: readonly number[], openSizes?: readonly number[]) => {
  try {
    requirePageSize(sizes, openSizes);
    return undefined;
  } catch (error) {
    const { code, reason, violations, message } = error as DomainError;
    expect([code, reason, violations[0]?.pointer]).toEqual(['invalid_argument', 'page_too_large', '#/limit']);
    return Number(/^#\/limit: is too large: .* a limit of (\d+) fits$/.exec(message)?.[1]);
  }
};

// guarantee: B3
test('a page of exactly the limit fits, and one byte more does not; the error names a limit that fits', () => {
  expect(chooseLimit([])).toBeUndefined();
  expect(chooseLimit([maxPageBytes - 1, 1])).toBeUndefined();
  expect(chooseLimit([maxPageBytes - 1, 1, 1, 5])).toBe(2);
  expect(chooseLimit([maxPageBytes, 1])).toBe(1);
});

test('one item always fits', () => {
  expect(chooseLimit([maxPageBytes + 1])).toBeUndefined();
  expect(chooseLimit([maxPageBytes + 1, 1])).toBe(1);
});

// guarantee: B5
test('objects of open shape have a limit of their own; the error names a limit that fits both', () => {
  expect(chooseLimit([9, 9], [maxOpenBytesAtOnce, 0])).toBeUndefined();
  expect(chooseLimit([9, 9, 9], [1, maxOpenBytesAtOnce - 1, 1])).toBe(2);
  expect(chooseLimit([9, 9], [maxOpenBytesAtOnce + 1, 0])).toBe(1);
  expect(chooseLimit([9], [maxOpenBytesAtOnce + 1])).toBeUndefined();
  expect(chooseLimit([9, maxPageBytes, 9], [0, 0, maxOpenBytesAtOnce + 1])).toBe(1);
  expect(chooseLimit([9, 9, maxPageBytes], [0, maxOpenBytesAtOnce + 1, 0])).toBe(1);
});

test('a page is large from one byte above the limit of small pages', () => {
  expect([isLargePage([smallPageBytes]), isLargePage([smallPageBytes, 1])]).toEqual([false, true]);
});
