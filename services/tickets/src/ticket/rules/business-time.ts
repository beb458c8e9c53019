import type { JsonValue } from '@bufbuild/protobuf';

/** Measures time by business hours. */
export interface BusinessTime {
  /**
   * The time at which some seconds of business hours have passed since a time: at least one. If they do not pass within
   * 50 years, the end of these; never later than the year 9999.
   *
   * Units: Unix seconds.
   */
  after(start: number, seconds: number): number;
}

const daySeconds = 86_400;
const weekSeconds = 7 * daySeconds;
const horizonSeconds = 50 * 366 * daySeconds;
/** The end of the year 9999, the latest time that the API can show. */
const latest = 253_402_300_799;
/** How many weeks are remembered: about four horizons. */
const maxWeeks = 10_000;

/** Time without business hours: every second counts. */
const plainTime: BusinessTime = { after: (start, seconds) => Math.min(start + seconds, latest) };

/** Measures time by the setting `businessHours`. Source: docs/reference/api.md, SLA and business hours. */
export function businessTime(setting: JsonValue | undefined): BusinessTime {
  const hours = readBusinessHours(setting);
  return hours === null ? plainTime : timeByHours(hours);
}

function timeByHours(hours: BusinessHours): BusinessTime {
  const offsets = utcOffsets(hours.timeZone);
  const regularWeek = hours.days.flat().reduce((sum, { from, to }) => sum + to - from, 0);
  const weeks = new Map<number, number>();

  /** The business hours in a part of time, in order. Wherever the clocks change, the time that they show counts. */
  function* intervalsIn(part: Interval): Generator<Interval> {
    for (const { from, to, offset } of offsets.segments(part)) {
      for (const day of listDays({ from: from + offset, to: to + offset })) {
        for (const interval of intervalsOn(hours, day)) {
          const start = Math.max(from, day * daySeconds + interval.from - offset);
          const end = Math.min(to, day * daySeconds + interval.to - offset);
          if (start < end) yield { from: start, to: end };
        }
      }
    }
  }

  /** How many seconds of business hours a week has. Weeks are counted from 1970-01-01 in UTC. */
  function countSeconds(week: number): number {
    const known = weeks.get(week);
    if (known !== undefined) return known;
    const part = { from: week * weekSeconds, to: (week + 1) * weekSeconds };
    const seconds = isRegular(part) ? regularWeek : sum(intervalsIn(part));
    if (weeks.size >= maxWeeks) weeks.clear();
    weeks.set(week, seconds);
    return seconds;
  }

  /** Whether a week has no holiday and no change of the clocks: its seconds are those of every such week. */
  function isRegular(part: Interval): boolean {
    const [first, ...others] = offsets.segments(part);
    if (!first || others.length > 0) return false;
    return !listDays({ from: part.from + first.offset, to: part.to + first.offset }).some((day) =>
      hours.holidays.has(day),
    );
  }

  return {
    after(start, seconds) {
      const horizon = Math.min(start + horizonSeconds, latest);
      let missing = seconds;
      for (let at = start; at < horizon; ) {
        const week = Math.floor(at / weekSeconds);
        const weekEnd = (week + 1) * weekSeconds;
        if (at === week * weekSeconds && countSeconds(week) < missing) {
          missing -= countSeconds(week);
        } else {
          for (const { from, to } of intervalsIn({ from: at, to: weekEnd })) {
            if (missing <= to - from) return Math.min(from + missing, horizon);
            missing -= to - from;
          }
        }
        at = weekEnd;
      }
      return horizon;
    },
  };
}

/** The days on the calendar that a part of the local time touches. */
function listDays({ from, to }: Interval): number[] {
  const first = Math.floor(from / daySeconds);
  const end = Math.ceil(to / daySeconds);
  return Array.from({ length: end - first }, (_, index) => first + index);
}

function sum(intervals: Iterable<Interval>): number {
  let seconds = 0;
  for (const { from, to } of intervals) seconds += to - from;
  return seconds;
}

/** The hours in which the seconds of an SLA pass. */
interface BusinessHours {
  timeZone: string;
  /** The intervals of each day of the week, Sunday first. Units: seconds since the midnight of the clock on the wall. */
  days: readonly (readonly Interval[])[];
  /** The days without business. Units: days since 1970-01-01. */
  holidays: ReadonlySet<number>;
}

/** A part of time: `from` belongs to it, `to` does not. */
interface Interval {
  from: number;
  to: number;
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/**
 * Reads the setting `businessHours`, which the settings service has checked. Without an interval there are no business
 * hours: null.
 *
 * Source: docs/reference/api.md, SLA and business hours.
 */
function readBusinessHours(value: JsonValue | undefined): BusinessHours | null {
  const { timeZone, days, holidays } = (value ?? {}) as Partial<StoredHours>;
  if (timeZone === undefined || days === undefined) return null;
  const hours = {
    timeZone,
    days: weekdays.map((day) => (days[day] ?? []).map(([from, to]) => ({ from: parseTime(from), to: parseTime(to) }))),
    holidays: new Set((holidays ?? []).map((date) => Date.parse(`${date}T00:00:00Z`) / 1000 / daySeconds)),
  };
  return hours.days.every((intervals) => intervals.length === 0) ? null : hours;
}

/** The value of the setting, as its validation leaves it. */
interface StoredHours {
  timeZone: string;
  days: Readonly<Record<string, readonly [string, string][]>>;
  holidays: readonly string[];
}

/** The seconds since midnight of a time such as 08:30. */
function parseTime(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 3600 + minutes * 60;
}

/** The intervals of a day, which is a number of days since 1970-01-01, a Thursday. */
function intervalsOn({ days, holidays }: BusinessHours, day: number): readonly Interval[] {
  if (holidays.has(day)) return [];
  return days[(((day + 4) % 7) + 7) % 7] ?? [];
}

/** A part of time in which a time zone has one offset from UTC. Units: Unix seconds, seconds. */
interface OffsetSegment extends Interval {
  offset: number;
}

/** How far the clocks on the wall of a time zone are ahead of UTC. */
interface UtcOffsets {
  /** Units: Unix seconds, seconds. */
  at(time: number): number;
  /** Divides a part of time where the offset changes. */
  segments(part: Interval): OffsetSegment[];
}

/**
 * The longest time between two looks at the offset. Brazil has ended its summer time after seven days; no zone has changed
 * twice within less.
 */
const stepSeconds = 302_400;

/** The offsets of a time zone, from the time zone data of the platform. */
function utcOffsets(timeZone: string): UtcOffsets {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const at = (time: number) => offsetIn(format.format(time * 1000));

  /** The first second after `from`, where the offset is another one at `to`, that has another offset. */
  function changeAfter(from: number, to: number, offset: number): number {
    let before = from;
    let after = to;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (at(middle) === offset) before = middle;
      else after = middle;
    }
    return after;
  }

  function segments({ from, to }: Interval): OffsetSegment[] {
    const found: OffsetSegment[] = [];
    for (let start = from, offset = at(from); start < to; ) {
      let end = start;
      let next = offset;
      while (end < to && next === offset) {
        const look = Math.min(end + stepSeconds, to);
        next = at(look);
        end = next === offset ? look : changeAfter(end, look, offset);
      }
      found.push({ from: start, to: end, offset });
      start = end;
      if (start < to) offset = at(start);
    }
    return found;
  }

  return { at, segments };
}

/** Reads the end of a text such as "7/1/2026, GMT+02:00". Historic offsets have seconds; UTC has no digits. */
function offsetIn(text: string): number {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text) ?? [];
  const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' ? -offset : offset;
}
