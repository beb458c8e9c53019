import type { JsonValue } from '@bufbuild/protobuf';
import { escapePointer } from '@ticketing/rest/codec/scan-json.ts';

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const maxIntervals = 10;
const maxHolidays = 1000;

/**
 * Returns the problems of a value of the setting `businessHours`, each with a pointer below the value; empty if it is
 * valid.
 *
 * Shape: `{timeZone, days: {mon: [["08:00", "17:00"]], …}, holidays: ["2026-12-25"]}`.
 * Source: docs/reference/api.md, SLA and business hours.
 */
export function businessHoursProblems(value: JsonValue): ValueProblem[] {
  if (!isObject(value)) return [{ at: '', detail: 'must be an object' }];
  const unknown = Object.keys(value).filter((key) => !['timeZone', 'days', 'holidays'].includes(key));
  return [
    ...unknown.map((key) => ({ at: `/${escapePointer(key)}`, detail: 'is not a part of business hours' })),
    ...(isTimeZone(value.timeZone) ? [] : [{ at: '/timeZone', detail: 'must be a time zone such as Europe/Berlin' }]),
    ...dayProblems(value.days),
    ...holidayProblems(value.holidays ?? []),
  ];
}

/** A problem of a value. */
export interface ValueProblem {
  /** A JSON Pointer below the value, which is the empty text for the value itself. */
  at: string;
  detail: string;
}

/** Whether a JSON value is an object. */
export function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTimeZone(value: JsonValue | undefined): boolean {
  if (typeof value !== 'string' || value.length > 64) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function dayProblems(value: JsonValue | undefined): ValueProblem[] {
  if (!isObject(value)) return [{ at: '/days', detail: 'must be an object with days' }];
  const problems = Object.entries(value).flatMap(([day, intervals]) => {
    const at = `/days/${escapePointer(day)}`;
    if (!days.includes(day)) return [{ at, detail: `must be one of: ${days.join(', ')}` }];
    return areIntervals(intervals) ? [] : [{ at, detail: 'must be intervals in order, such as [["08:00", "17:00"]]' }];
  });
  const isEmpty = Object.values(value).every((intervals) => Array.isArray(intervals) && intervals.length === 0);
  return isEmpty ? [{ at: '/days', detail: 'must have an interval' }] : problems;
}

function areIntervals(value: JsonValue): boolean {
  if (!Array.isArray(value) || value.length > maxIntervals) return false;
  let end = '';
  return value.every((interval) => {
    if (!Array.isArray(interval) || interval.length !== 2) return false;
    const [from, to] = interval;
    if (!isTime(from) || !isEnd(to)) return false;
    const isInOrder = from < to && from >= end;
    end = to;
    return isInOrder;
  });
}

function isTime(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(value);
}

function isEnd(value: JsonValue | undefined): value is string {
  return value === '24:00' || isTime(value);
}

function holidayProblems(value: JsonValue): ValueProblem[] {
  if (!Array.isArray(value) || value.length > maxHolidays) {
    return [{ at: '/holidays', detail: `must be a list of at most ${maxHolidays} dates` }];
  }
  return value.flatMap((date, index) =>
    isDate(date) ? [] : [{ at: `/holidays/${index}`, detail: 'must be a date such as 2026-12-25' }],
  );
}

function isDate(value: JsonValue): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}
