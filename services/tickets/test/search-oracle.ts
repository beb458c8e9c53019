import type { TicketState } from '../src/store/ticket-fields.ts';

/** A filter as a request gives it. */
export interface RawFilter {
  key: string;
  comparator: string;
  value?: unknown;
  values?: unknown[];
  from?: unknown;
  to?: unknown;
}

type Kind = 'number' | 'text' | 'time' | 'rank' | 'boolean';
const ranks: unknown[] = ['', 'low', 'medium', 'high', 'urgent'];

/** What a ticket has under a key, and of which kind it is. Enums are texts. */
export type Look = (ticket: TicketState, key: string) => { kind: Kind; values: unknown[] };

/** Whether a ticket meets a filter, read straight from decisions.md section 4; for tests only. */
export function meets(ticket: TicketState, filter: RawFilter, look: Look): boolean {
  const { kind, values } = look(ticket, filter.key);
  const set = values.filter((value) => value !== null);
  const isUnset = set.length === 0;
  const read = (given: unknown, endOfDay = false): unknown => {
    if (kind === 'rank') return ranks.indexOf(given);
    if (kind !== 'time' || typeof given !== 'string') return kind === 'number' ? Number(given) : given;
    const isDay = /^\d{4}-\d{2}-\d{2}$/.test(given);
    const text = isDay
      ? `${given}T00:00:00Z`
      : /Z$|[+-]\d{2}:\d{2}$/.test(given)
        ? given
        : `${given.replace(' ', 'T')}Z`;
    return Date.parse(text) / 1000 + (isDay && endOfDay ? 86_399 : 0);
  };
  const any = (test: (value: never) => boolean) => set.some((value) => test(value as never));
  switch (filter.comparator) {
    case '=':
    case 'equal':
      return any((value) => value === read(filter.value));
    case '!=':
      return filter.value === null ? !isUnset : !any((value) => value === read(filter.value));
    case '<':
      return any((value) => value < (read(filter.value) as never));
    case '<=':
      return any((value) => value <= (read(filter.value, true) as never));
    case '>':
      return any((value) => value > (read(filter.value, true) as never));
    case '>=':
      return any((value) => value >= (read(filter.value) as never));
    case 'between':
      return any((value) => value >= (read(filter.from) as never) && value <= (read(filter.to, true) as never));
    case 'in': {
      const given = filter.values ?? [];
      return (
        any((value) => given.some((one) => one !== null && read(one) === value)) || (isUnset && given.includes(null))
      );
    }
    case 'not in': {
      const given = filter.values ?? [];
      const isListed = any((value) => given.some((one) => one !== null && read(one) === value));
      return !isListed && !(isUnset && given.includes(null));
    }
    case 'like': {
      const parts = String(filter.value).toLowerCase().split('%');
      return any((value) => isLike(String(value).toLowerCase(), parts));
    }
    default:
      throw new Error(`${filter.comparator} is not a comparator`);
  }
}

function isLike(text: string, parts: readonly string[]): boolean {
  const [first = '', ...rest] = parts;
  if (rest.length === 0) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  const last = rest.pop() ?? '';
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
