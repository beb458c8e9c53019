import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDateTime, formatRfc3339, isDateInRange, parseDateTime } from './date-time.ts';

const first = -62_135_596_800;
const last = 253_402_300_799;

test.each([
  ['2024-02-29', 1_709_164_800, true],
  ['2000-02-29', 951_782_400, true],
  ['1970-01-01', 0, true],
  ['1969-12-31 23:59:59', -1, false],
  ['1969-12-31T23:59:59.999Z', -1, false],
  ['2024-05-06 07:08', 1_714_979_280, false],
  ['2024-05-06 07:08:09', 1_714_979_289, false],
  ['2024-05-06T07:08:09', 1_714_979_289, false],
  ['2024-05-06t07:08:09z', 1_714_979_289, false],
  ['2024-05-06T07:08:09.123456789Z', 1_714_979_289, false],
  ['2024-05-06T09:08:09+02:00', 1_714_979_289, false],
  ['2024-05-06 01:38:09-05:30', 1_714_979_289, false],
  ['2024-12-31T23:59:59-23:59', 1_735_775_939, false],
  ['2024-05-06T07:08:09-00:00', 1_714_979_289, false],
  ['0001-01-01', first, true],
  ['9999-12-31 23:59:59', last, false],
])('reads %s', (text, seconds, isDay) => {
  expect(parseDateTime(text)).toEqual({ seconds, isDay });
});

test.each([
  '',
  'now',
  'NaN',
  '2023-02-29',
  '1900-02-29',
  '2024-02-30',
  '2024-04-31',
  '2024-00-10',
  '2024-13-10',
  '2024-01-00',
  '2024-01-32',
  '2024-12-99',
  '2024-1-1',
  '24-01-01',
  '12024-01-01',
  '+2024-01-01',
  '-2024-01-01',
  '0000-01-01',
  '2024-01-01 24:00:00',
  '2024-01-01 23:60:00',
  '2024-01-01 23:59:60',
  '2024-01-01 7:08:09',
  '2024-01-01T',
  '2024-01-01T10',
  '2024-01-01T10:00:00.',
  '2024-01-01T10:00:00+24:00',
  '2024-01-01T10:00:00+01:60',
  '2024-01-01T10:00:00+0100',
  '2024-01-01T10:00:00+01',
  '2024-01-01Z',
  '2024-01-01+01:00',
  '2024-01-01  10:00:00',
  '2024-01-01T10:00:00 Z',
  ' 2024-01-01',
  '2024-01-01 ',
  '2024-01-01\n',
  '٢٠٢٤-01-01',
  '0001-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-00:01',
])('refuses %j, which is not a valid date', (text) => {
  expect(parseDateTime(text)).toBeUndefined();
});

test('accepts exactly the days that the calendar has', () => {
  for (const year of [1, 4, 100, 400, 1899, 1900, 1970, 2000, 2023, 2024, 2100, 9999]) {
    for (let month = 1; month <= 12; month++) {
      const end = new Date(Date.UTC(2000, month, 0)).getUTCDate();
      const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
      const days = month === 2 && !isLeap ? 28 : end;
      for (const day of [1, days, days + 1]) {
        const text = [String(year).padStart(4, '0'), ...[month, day].map((n) => String(n).padStart(2, '0'))].join('-');
        expect([text, parseDateTime(text) !== undefined]).toEqual([text, day <= days]);
      }
    }
  }
});

test('writes every second as JavaScript does, and reads it back', () => {
  fc.assert(
    fc.property(fc.integer({ min: first, max: last }), (seconds) => {
      const iso = new Date(seconds * 1000).toISOString();
      expect(formatRfc3339(seconds)).toBe(iso.replace('.000Z', 'Z'));
      expect(formatDateTime(seconds)).toBe(iso.slice(0, 19).replace('T', ' '));
      expect(parseDateTime(formatDateTime(seconds))?.seconds).toBe(seconds);
      expect(parseDateTime(formatRfc3339(seconds))?.seconds).toBe(seconds);
    }),
    { numRuns: 500, examples: [[first], [last], [-1], [0], [86_399], [86_400], [-86_400], [-86_401]] },
  );
});

test('reads the same instant from every offset', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4_000_000_000 }),
      fc.integer({ min: -1439, max: 1439 }),
      (seconds, minutes) => {
        const local = formatDateTime(seconds + minutes * 60);
        const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
        const offset = [hours, rest].map((part) => String(part).padStart(2, '0')).join(':');
        expect(parseDateTime(`${local}${minutes < 0 ? '-' : '+'}${offset}`)?.seconds).toBe(seconds);
      },
    ),
  );
});

test('formats correctly after more days than the cache holds', () => {
  for (let day = 0; day < 12_000; day++) formatDateTime(day * 86_400);
  expect(formatDateTime(0)).toBe('1970-01-01 00:00:00');
});

test.each([
  [first, true],
  [first - 1, false],
  [last, true],
  [last + 1, false],
  [0.5, false],
  [Number.NaN, false],
  [Number.POSITIVE_INFINITY, false],
])('isDateInRange(%d) is %s', (seconds, expected) => {
  expect(isDateInRange(seconds)).toBe(expected);
});

// guarantee: I3
test('refuses hostile texts quickly', async () => {
  for (const text of ['0'.repeat(50_000), `2024-01-01T10:00:00.${'0'.repeat(50_000)}`, '2024-01-01 '.repeat(5_000)]) {
    expect(await withinCpuTime(50, () => parseDateTime(text))).toBeUndefined();
  }
});
