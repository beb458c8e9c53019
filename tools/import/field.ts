export type FieldValue = string | number | string[];

interface Field {
  /** Undefined when the text can not be read. */
  read: (text: string) => FieldValue | undefined;
  /** What the text should be, for messages and help. */
  expected: string;
}

const text: Field = { read: (value) => value, expected: 'text' };
const name: Field = { read: (value) => value.trim(), expected: 'text' };
const list: Field = { read: readList, expected: 'a list separated by , or ;' };
const time: Field = { read: readTime, expected: 'YYYY-MM-DD HH:MM:SS, RFC 3339 or Unix seconds' };
const id: Field = { read: readId, expected: 'a positive whole number' };

/** The writable scalar fields of POST /ticket. `externalTicketId` belongs to the import, `tags` to the tag columns. */
export const ticketFields: ReadonlyMap<string, Field> = new Map([
  ['subject', text],
  ['body', text],
  ['from', name],
  ['fromName', name],
  ['to', list],
  ['cc', list],
  ['bcc', list],
  [
    'priority',
    word({ low: 'low', medium: 'medium', normal: 'medium', high: 'high', urgent: 'urgent', critical: 'urgent' }),
  ],
  ['status', word(same('open', 'pending', 'closed'))],
  ['channel', word({ ...same('email', 'portal', 'phone', 'letter', 'system', 'chat', 'walkIn'), 'e-mail': 'email' })],
  ['direction', word(same('in', 'out', 'internal'))],
  ['createdAt', time],
  ['firstResponseDueBy', time],
  ['dueBy', time],
  ['contractId', name],
  ['agentId', id],
  ['subchannelId', id],
  ['templateId', id],
]);

/** A field of few values, read without case and surrounding space. */
function word(spellings: Record<string, string>): Field {
  const values = new Map(Object.entries(spellings).map(([spelling, value]) => [spelling.toLowerCase(), value]));
  const expected = `one of ${Object.keys(spellings).join(', ')}`;
  return { read: (value) => values.get(value.trim().toLowerCase()), expected };
}

function same(...words: string[]): Record<string, string> {
  return Object.fromEntries(words.map((entry) => [entry, entry]));
}

function readList(value: string): string[] {
  return value
    .split(/[,;]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function readTime(value: string): FieldValue {
  const trimmed = value.trim();
  return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}

function readId(value: string): number | undefined {
  return /^\s*[1-9]\d{0,9}\s*$/.test(value) ? Number(value) : undefined;
}
