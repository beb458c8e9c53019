import type { Timestamp } from '@bufbuild/protobuf/wkt';

const secondsPerDay = 86_400;
const minSeconds = -62_135_596_800; // 0001-01-01T00:00:00Z
const maxSeconds = 253_402_300_799; // 9999-12-31T23:59:59Z

/** Whether a number of Unix seconds is in the years 1 to 9999, which every date format can express. */
export function isDateInRange(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= minSeconds && seconds <= maxSeconds;
}

/** A date that was read from a text: whole Unix seconds, and whether the text had no time of day. */
export interface ParsedDate {
  seconds: number;
  isDay: boolean;
}

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:(Z)|([+-])(\d{2}):(\d{2}))?)?$/i;

/**
 * Reads a date: `YYYY-MM-DD`, `YYYY-MM-DD HH:MM[:SS]` (UTC) or RFC 3339 with an offset.
 *
 * Units: whole seconds; fractions are dropped. Errors: undefined for any other text and for a date that does not exist.
 * Source: docs/reference/api.md, Times.
 */
export function parseDateTime(text: string): ParsedDate | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((index) => Number(match[index] ?? 0));
  if (year === undefined || month === undefined || day === undefined) return undefined;
  if (hour === undefined || minute === undefined || second === undefined) return undefined;
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 || year < 1) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1) return undefined;
  const offset = offsetSeconds(match[8], match[9], match[10]);
  if (offset === undefined) return undefined;
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset;
  return isDateInRange(seconds) ? { seconds, isDay: match[4] === undefined } : undefined;
}

function offsetSeconds(sign?: string, hours?: string, minutes?: string): number | undefined {
  if (sign === undefined) return 0;
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
}

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const dayTexts = new Map<number, string>();

/** Writes Unix seconds as `YYYY-MM-DD HH:MM:SS`, UTC. */
export function formatDateTime(seconds: number): string {
  const day = Math.floor(seconds / secondsPerDay);
  const second = seconds - day * secondsPerDay;
  return `${dayText(day)} ${timeText(second)}`;
}

/** Makes the protobuf message of a time. Units: whole Unix seconds. */
export function toTimestamp(seconds: number): Timestamp {
  return { $typeName: 'google.protobuf.Timestamp', seconds: BigInt(seconds), nanos: 0 };
}

/** Writes Unix seconds as RFC 3339, UTC. */
export function formatRfc3339(seconds: number): string {
  const day = Math.floor(seconds / secondsPerDay);
  return `${dayText(day)}T${timeText(seconds - day * secondsPerDay)}Z`;
}

function timeText(second: number): string {
  return `${twoDigits[Math.floor(second / 3600)]}:${twoDigits[Math.floor((second % 3600) / 60)]}:${twoDigits[second % 60]}`;
}

// Cached, because the dates on a page of tickets are on few different days.
function dayText(day: number): string {
  let text = dayTexts.get(day);
  if (text === undefined) {
    text = new Date(day * secondsPerDay * 1000).toISOString().slice(0, 10);
    if (dayTexts.size >= 10_000) dayTexts.clear();
    dayTexts.set(day, text);
  }
  return text;
}
