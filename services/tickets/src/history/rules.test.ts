import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type HistoryKey, mergeNewestFirst, pageParts } from './rules.ts';

const keysOf = (isTicket: boolean) =>
  fc
    .array(fc.integer({ min: 0, max: 20 }), { maxLength: 40 })
    .map((times) => mergeNewestFirst(times.map((createdAt, id) => ({ id, createdAt, isTicket }))));

test('a page that is merged from parts is that of the whole history', () => {
  fc.assert(
    fc.property(
      keysOf(true),
      keysOf(false),
      fc.nat(90),
      fc.integer({ min: 1, max: 20 }),
      (tickets, entries, skip, limit) => {
        const counts = { tickets: tickets.length, openTickets: 0, entries: entries.length };
        const parts = pageParts(counts, { skip, limit });
        const read = (keys: HistoryKey[], part: typeof parts.tickets) => keys.slice(part.skip, part.skip + part.limit);
        const merged = mergeNewestFirst([...read(tickets, parts.tickets), ...read(entries, parts.entries)]);
        const whole = mergeNewestFirst([...tickets, ...entries]);
        expect(merged.slice(parts.skip, parts.skip + limit)).toEqual(whole.slice(skip, skip + limit));
      },
    ),
  );
});

test('a deep page reads no more of a list than the length of the other list and the limit', () => {
  const counts = { tickets: 100_000, openTickets: 0, entries: 12 };
  const parts = pageParts(counts, { skip: 90_000, limit: 10 });
  expect(parts).toEqual({ tickets: { skip: 89_988, limit: 22 }, entries: { skip: 0, limit: 90_010 }, skip: 12 });
});

test('of the same second, tickets come first, and then the higher id', () => {
  const key = (id: number, createdAt: number, isTicket: boolean) => ({ id, createdAt, isTicket });
  const sorted = mergeNewestFirst([key(1, 5, false), key(9, 5, true), key(10, 5, true), key(2, 6, false)]);
  expect(sorted.map(({ id }) => id)).toEqual([2, 10, 9, 1]);
});
