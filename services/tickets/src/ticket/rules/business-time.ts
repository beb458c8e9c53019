import type { JsonValue } from '@bufbuild/protobuf';
import { type BusinessHours, daySeconds, type Interval, intervalsOn, readBusinessHours } from './business-hours.ts';
import { utcOffsets } from './utc-offset.ts';

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

const weekSeconds = 7 * daySeconds;
const horizonSeconds = 50 * 366 * daySeconds;
/** The end of the year 9999, the latest time that the API can show. */
const latest = 253_402_300_799;
/** How many weeks are remembered: about four horizons. */
const maxWeeks = 10_000;

/** Time without business hours: every second counts. */
const plainTime: BusinessTime = { after: (start, seconds) => Math.min(start + seconds, latest) };

/**
 * Measures time by the setting `businessHours`.
 *
 * Source: docs/reference/api.md, SLA and business hours.
 */
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
      for (const day of daysOf({ from: from + offset, to: to + offset })) {
        for (const interval of intervalsOn(hours, day)) {
          const start = Math.max(from, day * daySeconds + interval.from - offset);
          const end = Math.min(to, day * daySeconds + interval.to - offset);
          if (start < end) yield { from: start, to: end };
        }
      }
    }
  }

  /** How many seconds of business hours a week has. Weeks are counted from 1970-01-01 in UTC. */
  function secondsOf(week: number): number {
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
    return !daysOf({ from: part.from + first.offset, to: part.to + first.offset }).some((day) =>
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
        if (at === week * weekSeconds && secondsOf(week) < missing) {
          missing -= secondsOf(week);
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
function daysOf({ from, to }: Interval): number[] {
  const first = Math.floor(from / daySeconds);
  const end = Math.ceil(to / daySeconds);
  return Array.from({ length: end - first }, (_, index) => first + index);
}

function sum(intervals: Iterable<Interval>): number {
  let seconds = 0;
  for (const { from, to } of intervals) seconds += to - from;
  return seconds;
}
