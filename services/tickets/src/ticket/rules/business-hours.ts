import type { JsonValue } from '@bufbuild/protobuf';

/** The hours in which the seconds of an SLA pass. */
export interface BusinessHours {
  timeZone: string;
  /** The intervals of each day of the week, Sunday first. Units: seconds since the midnight of the clock on the wall. */
  days: readonly (readonly Interval[])[];
  /** The days without business. Units: days since 1970-01-01. */
  holidays: ReadonlySet<number>;
}

/** A part of time: `from` belongs to it, `to` does not. */
export interface Interval {
  from: number;
  to: number;
}

/** Seconds in a day. */
export const daySeconds = 86_400;

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/**
 * Reads the setting `businessHours`, which the settings service has checked. Without an interval there are no business
 * hours: null.
 *
 * Source: docs/reference/api.md, SLA and business hours.
 */
export function readBusinessHours(value: JsonValue | undefined): BusinessHours | null {
  const { timeZone, days, holidays } = (value ?? {}) as Partial<StoredHours>;
  if (timeZone === undefined || days === undefined) return null;
  const hours = {
    timeZone,
    days: weekdays.map((day) => (days[day] ?? []).map(([from, to]) => ({ from: secondsOf(from), to: secondsOf(to) }))),
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
function secondsOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 3600 + minutes * 60;
}

/** The intervals of a day, which is a number of days since 1970-01-01, a Thursday. */
export function intervalsOn({ days, holidays }: BusinessHours, day: number): readonly Interval[] {
  if (holidays.has(day)) return [];
  return days[(((day + 4) % 7) + 7) % 7] ?? [];
}
