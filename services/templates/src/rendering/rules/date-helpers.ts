import type { TemplateHelper } from './helper.ts';
import { toText } from './value.ts';

/** A date in UTC: milliseconds since 1970, and whether a time belongs to it. */
interface TemplateDate {
  ms: number;
  hasTime: boolean;
}

const written = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/;
const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');
const msPerDay = 86_400_000;

/** Helpers for dates. Source: docs/reference/api.md, Templates. */
export const dateHelpers: readonly TemplateHelper[] = [
  {
    name: 'formatDateDE',
    usage: 'date',
    arity: [1, 1],
    isCondition: false,
    meaning:
      'The date as `DD.MM.YYYY`, in UTC. Takes dates with or without a time, and Unix seconds. What is no date stays as it is.',
    examples: [
      ['{{formatDateDE "2026-03-09 23:15:00"}}', '09.03.2026'],
      ['{{formatDateDE "soon"}}', 'soon'],
    ],
    call(value) {
      const date = parseDate(value);
      if (!date) return toText(value);
      const [year, month, day] = isoDay(date).split('-');
      return `${day}.${month}.${year}`;
    },
  },
  {
    name: 'addDays',
    usage: 'date days',
    arity: [2, 2],
    isCondition: false,
    meaning:
      'The date so many days later, or earlier for a negative number; with a time if the date has one. ' +
      'What is no date or no whole number of days leaves the date as it is.',
    examples: [
      ['{{addDays "2028-02-28" 1}}', '2028-02-29'],
      ['{{formatDateDE (addDays "2026-01-01 08:00:00" -1)}}', '31.12.2025'],
    ],
    call(value, days) {
      const date = parseDate(value);
      const count = toText(days);
      if (!date || !/^-?\d{1,7}$/.test(count)) return toText(value);
      const moved = { ...date, ms: date.ms + Number(count) * msPerDay };
      if (!isInRange(moved.ms)) return toText(value);
      return moved.hasTime ? `${isoDay(moved)} ${new Date(moved.ms).toISOString().slice(11, 19)}` : isoDay(moved);
    },
  },
];

function parseDate(value: unknown): TemplateDate | undefined {
  const text = toText(value);
  if (/^\d{1,12}$/.test(text)) return within({ ms: Number(text) * 1000, hasTime: true });
  const [, day, time, zone] = (text.length <= 40 && written.exec(text)) || [];
  // `Date` would read 30 February as a day of March.
  if (day === undefined || parseDay(Date.parse(`${day}T00:00:00Z`)) !== day) return undefined;
  const ms = Date.parse(`${day}T${time ?? '00:00'}${zone ?? 'Z'}`);
  return within({ ms, hasTime: time !== undefined });
}

const isInRange = (ms: number) => ms >= firstMs && ms <= lastMs;
const within = (date: TemplateDate) => (isInRange(date.ms) ? date : undefined);
const isoDay = ({ ms }: TemplateDate) => parseDay(ms) ?? '';

function parseDay(ms: number): string | undefined {
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 10);
}
