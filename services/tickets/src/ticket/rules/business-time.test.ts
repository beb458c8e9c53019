import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { businessTime } from './business-time.ts';

const at = (text: string) => Date.parse(text) / 1000;
const text = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19);
const hour = 3600;

const office = [['08:00', '17:00']];
const officeWeek = { mon: office, tue: office, wed: office, thu: office, fri: office };
const berlin = { timeZone: 'Europe/Berlin', days: officeWeek, holidays: ['2026-12-25', '2027-01-01'] };

describe('in office hours in Berlin', () => {
  const time = businessTime(berlin);
  test.each([
    ['within a day', '2026-07-01T07:00:00Z', 2 * hour, '2026-07-01T09:00:00'],
    ['up to the last second of a day', '2026-07-01T07:00:00Z', 8 * hour, '2026-07-01T15:00:00'],
    ['one second more is on the next day', '2026-07-01T07:00:00Z', 8 * hour + 1, '2026-07-02T06:00:01'],
    ['from before the opening', '2026-07-01T00:00:00Z', 1, '2026-07-01T06:00:01'],
    ['from the second of the opening', '2026-07-01T06:00:00Z', 1, '2026-07-01T06:00:01'],
    ['from the second of the closing', '2026-07-01T15:00:00Z', 1, '2026-07-02T06:00:01'],
    ['over the weekend', '2026-07-03T14:59:59Z', 2, '2026-07-06T06:00:01'],
    ['over a holiday and a weekend', '2026-12-24T15:59:59Z', 2, '2026-12-28T07:00:01'],
    ['in winter an hour later', '2026-01-05T00:00:00Z', 1, '2026-01-05T07:00:01'],
    ['over the weekend of the change to summer time', '2026-03-27T15:00:00Z', 2 * hour, '2026-03-30T07:00:00'],
    ['exactly a week', '2026-07-01T07:00:00Z', 45 * hour, '2026-07-08T07:00:00'],
    ['from the start of a week in UTC', '2026-07-02T00:00:00Z', 45 * hour, '2026-07-08T15:00:00'],
    ['in the first hour that a ticket can have', '0001-01-01T00:00:00Z', hour, '0001-01-01T08:06:32'],
    ['before 1970', '1969-07-02T00:00:00Z', hour, '1969-07-02T08:00:00'],
  ])('%s', (_, start, seconds, expected) => {
    expect(text(time.after(at(start), seconds))).toBe(expected);
  });
});

describe('where the clocks change', () => {
  const night = (from: string, to: string) => businessTime({ timeZone: 'Europe/Berlin', days: { sun: [[from, to]] } });

  test('the hour that does not exist is no business hour', () => {
    const sunday = at('2026-03-29T00:00:00Z');
    expect(text(night('01:30', '03:30').after(sunday, hour))).toBe('2026-03-29T01:30:00');
    expect(text(night('01:30', '03:30').after(sunday, hour + 1))).toBe('2026-04-04T23:30:01');
  });

  test('the hour that exists twice counts twice, and a part of it each time', () => {
    const sunday = at('2026-10-25T00:00:00Z');
    expect(text(night('02:00', '03:00').after(sunday, 2 * hour))).toBe('2026-10-25T02:00:00');
    expect(text(night('02:30', '02:45').after(sunday, 15 * 60 + 1))).toBe('2026-10-25T01:30:01');
  });

  test('a day that a zone has left out is no business day', () => {
    const apia = businessTime({ timeZone: 'Pacific/Apia', days: { fri: [['08:00', '09:00']] } });
    expect(text(apia.after(at('2011-12-28T00:00:00Z'), 1))).toBe('2012-01-05T18:00:01');
  });
});

test('without business hours every second counts', () => {
  for (const setting of [undefined, null, {}, { timeZone: 'UTC' }, { timeZone: 'UTC', days: { mon: [] } }]) {
    expect(text(businessTime(setting).after(at('2026-03-28T23:59:59Z'), 2))).toBe('2026-03-29T00:00:01');
  }
});

test('24 hours on seven days are every second, also where the clocks change', () => {
  const always = Object.fromEntries(
    ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [['00:00', '24:00']]]),
  );
  const start = at('2026-01-01T00:00:01Z');
  const time = businessTime({ timeZone: 'Europe/Berlin', days: always });
  expect(time.after(start, 315_360_000)).toBe(start + 315_360_000);
});

describe('the longest deadlines', () => {
  const rare = businessTime({ timeZone: 'Europe/Berlin', days: { mon: [['08:00', '08:01']] } });
  const start = at('2026-01-01T00:00:00Z');
  const horizon = start + 50 * 366 * 86_400;

  test('end after 50 years, whatever is missing', () => {
    expect(rare.after(start, 60 * 52 * 49)).toBeLessThan(horizon);
    expect(rare.after(start, 60 * 52 * 51)).toBe(horizon);
    expect(rare.after(start, 315_360_000)).toBe(horizon);
  });

  test('end in the year 9999', () => {
    const latest = at('9999-12-31T23:59:59Z');
    expect(rare.after(latest - 8 * 86_400, 3600)).toBe(latest);
    expect(businessTime(null).after(latest, 1)).toBe(latest);
    expect(businessTime(null).after(latest - 1, 1)).toBe(latest);
  });

  test('take the process a few milliseconds at most', async () => {
    const time = businessTime(berlin);
    time.after(start, 315_360_000);
    for (let nth = 0; nth < 10; nth++) await withinCpuTime(10, () => time.after(start + nth, 315_360_000));
  });
});

/** The date, the weekday and the time that a clock on the wall shows. */
interface WallTime {
  date: string;
  weekday: string;
  clock: string;
}

const dayCount = 28;
const wallTimes = new Map<string, WallTime[]>();

/** The wall times in each minute of 28 days from midnight in UTC. */
function wallTimesFrom(timeZone: string, midnight: number): WallTime[] {
  const key = `${timeZone} ${midnight}`;
  const known = wallTimes.get(key);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  const times = Array.from({ length: dayCount * 1440 }, (_, minute) => {
    const parts = format.formatToParts((midnight + minute * 60) * 1000);
    const {
      year,
      month,
      day,
      weekday,
      hour,
      minute: minutes,
    } = Object.fromEntries(parts.map((p) => [p.type, p.value]));
    return { date: `${year}-${month}-${day}`, weekday: String(weekday).toLowerCase(), clock: `${hour}:${minutes}` };
  });
  wallTimes.set(key, times);
  return times;
}

interface Setting {
  timeZone: string;
  days: Record<string, string[][]>;
  holidays: string[];
}

function isBusiness({ days, holidays }: Setting, { date, weekday, clock: shown }: WallTime): boolean {
  if (holidays.includes(date)) return false;
  return (days[weekday] ?? []).some(([from = '', to = '']) => from <= shown && shown < to);
}

/** Counts business seconds minute by minute, from some seconds after a midnight; undefined if the 28 days are too few. */
function naiveAfter(setting: Setting, midnight: number, startOffset: number, seconds: number): number | undefined {
  let missing = seconds;
  for (const [minute, shown] of wallTimesFrom(setting.timeZone, midnight).entries()) {
    if (minute * 60 + 60 <= startOffset || !isBusiness(setting, shown)) continue;
    const from = Math.max(startOffset, minute * 60);
    if (missing <= minute * 60 + 60 - from) return midnight + from + missing;
    missing -= minute * 60 + 60 - from;
  }
  return undefined;
}

const interestingDays: Record<string, string[]> = {
  'Europe/Berlin': ['2026-03-29', '2026-10-25', '2026-12-24'],
  'America/New_York': ['2026-03-08', '2026-11-01'],
  'Australia/Lord_Howe': ['2026-04-05', '2026-10-04'],
  'Asia/Kathmandu': ['2026-05-01'],
  'America/Recife': ['2000-10-08', '2000-10-15'],
  'Pacific/Apia': ['2011-12-30'],
  'America/St_Johns': ['2006-04-02', '2006-10-29'],
};

const clock = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
const intervals = fc
  .uniqueArray(fc.oneof(fc.integer({ min: 0, max: 1440 }), fc.constantFrom(0, 60, 120, 150, 180, 480, 1020, 1440)), {
    maxLength: 6,
  })
  .map((minutes) => minutes.toSorted((left, right) => left - right))
  .map((sorted) =>
    Array.from({ length: Math.floor(sorted.length / 2) }, (_, nth) => [
      clock(sorted[nth * 2] ?? 0),
      clock(sorted[nth * 2 + 1] ?? 0),
    ]),
  );
const example = fc.constantFrom(...Object.keys(interestingDays)).chain((timeZone) =>
  fc.record({
    timeZone: fc.constant(timeZone),
    days: fc.record({
      mon: intervals,
      tue: intervals,
      wed: intervals,
      thu: intervals,
      fri: intervals,
      sat: intervals,
      sun: intervals,
    }),
    day: fc.constantFrom(...(interestingDays[timeZone] ?? [])),
    holidayOffsets: fc.uniqueArray(fc.integer({ min: 0, max: dayCount - 1 }), { maxLength: 3 }),
    startOffset: fc.integer({ min: 0, max: 14 * 86_400 }),
    seconds: fc.oneof(
      fc.integer({ min: 1, max: 90 * hour }),
      fc.integer({ min: 1, max: 9000 }).map((n) => n * 60),
    ),
  }),
);

test('is what a clock on the wall shows, minute by minute', () => {
  fc.assert(
    fc.property(example, ({ timeZone, days, day, holidayOffsets, startOffset, seconds }) => {
      const midnight = at(`${day}T00:00:00Z`) - 10 * 86_400;
      const holidays = holidayOffsets.map((offset) => text(midnight + offset * 86_400).slice(0, 10));
      const setting = { timeZone, days, holidays };
      if (Object.values(days).every((one) => one.length === 0)) return;
      const expected = naiveAfter(setting, midnight, startOffset, seconds);
      const found = businessTime(setting).after(midnight + startOffset, seconds);
      if (expected === undefined) expect(found).toBeGreaterThan(midnight + dayCount * 86_400);
      else expect(text(found)).toBe(text(expected));
    }),
    { numRuns: runs(100, 2000) },
  );
});

test('more seconds never end earlier, and a later start never does', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4_000_000_000 }),
      fc.integer({ min: 1, max: 315_359_999 }),
      (start, seconds) => {
        const time = businessTime(berlin);
        expect(time.after(start, seconds + 1)).toBeGreaterThan(time.after(start, seconds));
        expect(time.after(start + 1, seconds)).toBeGreaterThanOrEqual(time.after(start, seconds));
      },
    ),
    { numRuns: 50 },
  );
});
