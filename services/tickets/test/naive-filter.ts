import { type NaiveTicket, spellings } from './naive-ticket.ts';

/** A filter as it is in a request. */
export interface RawFilter {
  key: string;
  comparator: string;
  value?: unknown;
  values?: unknown[];
  from?: unknown;
  to?: unknown;
}

/** How the values of a key compare. */
type ComparisonKind = 'number' | 'text' | 'time' | 'rank' | 'boolean' | 'words';

const kinds: Readonly<Record<string, ComparisonKind>> = {
  't.id': 'number',
  't.channel': 'text',
  't.subchannelId': 'number',
  't.channelId': 'text',
  't.direction': 'text',
  't.status': 'text',
  't.priority': 'rank',
  't.agentId': 'number',
  't.customerId': 'text',
  't.contractId': 'text',
  't.partnerId': 'number',
  't.isCustomerActive': 'boolean',
  't.aiSupportLevel': 'text',
  'i.aiAgentId': 'number',
  't.createdAt': 'time',
  't.modifiedAt': 'time',
  't.firstResponseDueBy': 'time',
  't.dueBy': 'time',
  't.lastMessageAt': 'time',
  't.lastCustomerMessageAt': 'time',
  'tt.tagId': 'number',
  't.sentiment': 'text',
  't.language': 'text',
  't.languageCode': 'text',
  't.from': 'text',
  't.spamStatus': 'text',
  't.externalTicketId': 'text',
  't.callerNumber': 'text',
  't.subject': 'text',
  't.summary': 'text',
  't.closedAt': 'time',
  't.createdBy': 'number',
  q: 'words',
};

/** Every key of filters, and how its values compare. Source: docs/reference/api.md, Filters. */
export const naiveKeys: ReadonlyMap<string, ComparisonKind> = new Map(Object.entries(kinds));

type Value = string | number | boolean;

/**
 * Whether a ticket matches a filter, written directly from docs/reference/api.md, Filters. It is slow, and for tests only.
 *
 * Units: `now` in Unix seconds.
 */
export function matchesFilter(ticket: NaiveTicket, filter: RawFilter, now: number): boolean {
  const key = naiveKeys.has(filter.key) ? filter.key : `t.${filter.key}`;
  const kind = naiveKeys.get(key);
  if (kind === undefined) throw new Error(`${filter.key} is not a key`);
  if (kind === 'words') return hasWords(ticket, String(filter.value));
  const set = valuesOf(ticket, key, now);
  const isUnset = set.length === 0;
  const any = (test: (order: number) => boolean, given: unknown, addedSeconds = 0) =>
    given !== null && set.some((value) => test(compare(value, parseValue(given, kind, addedSeconds))));
  const endOfDay = 86_399;
  switch (filter.comparator) {
    case '=':
    case 'equal':
      return any((order) => order === 0, filter.value);
    case '!=':
      return filter.value === null ? !isUnset : !any((order) => order === 0, filter.value);
    case '<':
      return any((order) => order < 0, filter.value);
    case '<=':
      return any((order) => order <= 0, filter.value, endOfDay);
    case '>':
      return any((order) => order > 0, filter.value, endOfDay);
    case '>=':
      return any((order) => order >= 0, filter.value);
    case 'between':
      return set.some(
        (value) =>
          compare(value, parseValue(filter.from, kind, 0)) >= 0 &&
          compare(value, parseValue(filter.to, kind, endOfDay)) <= 0,
      );
    case 'in':
      return isOneOf(filter.values);
    case 'not in':
      return !isOneOf(filter.values);
    case 'like':
      return set.some((value) => isLike([...String(value)], [...String(filter.value)]));
    default:
      throw new Error(`${filter.comparator} is not a comparator`);
  }

  function isOneOf(given: readonly unknown[] = []): boolean {
    return given.some((one) => (one === null ? isUnset : any((order) => order === 0, one)));
  }
}

/** The values of a ticket for a key; none if the field is unset. */
export function valuesOf(ticket: NaiveTicket, key: string, now: number): Value[] {
  switch (key) {
    case 'tt.tagId':
      return [...ticket.tagIds];
    case 'i.aiAgentId':
      return [...ticket.aiAgentIds];
    case 't.isCustomerActive':
      return [ticket.channel === 'chat' && (ticket.lastCustomerMessageAt ?? 0) > now - 300];
    case 't.priority':
      return [rankOf(ticket.priority)];
    default: {
      const value = ticket[key.slice(2) as keyof NaiveTicket] as Value | null;
      return value === null ? [] : [value];
    }
  }
}

/** The order of two values of a key: texts by their bytes. */
export function compare(left: Value, right: Value): number {
  if (typeof left === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(String(right)));
  return Number(left) - Number(right);
}

function rankOf(priority: unknown): number {
  return (spellings.priority as readonly unknown[]).indexOf(priority);
}

function parseValue(given: unknown, kind: ComparisonKind, addedSeconds: number): Value {
  switch (kind) {
    case 'number':
      return Number(given);
    case 'rank':
      return rankOf(given);
    case 'boolean':
      return String(given) === 'true';
    case 'time':
      return typeof given === 'number' ? given : secondsOf(String(given), addedSeconds);
    default:
      return String(given);
  }
}

function secondsOf(text: string, addedSeconds: number): number {
  if (text.length === 'YYYY-MM-DD'.length) return Date.parse(`${text}T00:00:00Z`) / 1000 + addedSeconds;
  const hasZone = /(?:z|[+-]\d\d:\d\d)$/i.test(text);
  return Math.floor(Date.parse(hasZone ? text : `${text.replace(' ', 'T')}Z`) / 1000);
}

function isLike(text: readonly string[], pattern: readonly string[]): boolean {
  // The lengths of the prefixes of the text that the pattern so far matches.
  let ends = new Set([0]);
  for (const one of pattern) {
    const next = new Set<number>();
    for (const end of ends) {
      if (one === '%') for (let at = end; at <= text.length; at++) next.add(at);
      else if (end < text.length && isSameLetter(text[end] ?? '', one)) next.add(end + 1);
    }
    ends = next;
  }
  return ends.has(text.length);
}

function isSameLetter(left: string, right: string): boolean {
  return left === right || left.toLowerCase() === right.toLowerCase() || upper(left) === upper(right);
}

/** The upper case of a letter, if that is one letter. */
function upper(letter: string): string {
  const upperCase = letter.toUpperCase();
  return [...upperCase].length === 1 ? upperCase : letter;
}

function hasWords(ticket: NaiveTicket, query: string): boolean {
  const { subject, summary, bodyPlain, from, fromName, id, externalTicketId, callerNumber, customerId, contractId } =
    ticket;
  const texts = [subject, summary, bodyPlain, from, fromName, callerNumber];
  const searched = [...texts, String(id), externalTicketId, customerId, contractId];
  const words = searched.flatMap((text) => wordsIn(text ?? '').flatMap(spell));
  const matches = (word: string, other: string) => (word.length < 3 ? other === word : other.startsWith(word));
  return wordsIn(query).every((word) => spell(word).some((one) => words.some((other) => matches(one, other))));
}

/** A word without accents, and with the spellings of its umlauts. */
function spell(word: string): string[] {
  const lower = word.normalize('NFC').toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ');
  const spelt = lower.replace(/[äöü]/g, (letter) => `${letter.normalize('NFD').charAt(0)}e`);
  return [lower, spelt].map((one) => one.normalize('NFD').replace(/\p{M}/gu, ''));
}

function wordsIn(text: string): string[] {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*|\p{Extended_Pictographic}/gu) ?? [];
}
