export type FieldValue = string | number | string[];

interface Field {
  /** Reads a cell; undefined if its text is not valid for the field. */
  read: (text: string) => FieldValue | undefined;
  /** A description of the valid texts, for error messages and the help. */
  expected: string;
}

/** The most bytes of a message that the server takes. */
const maxMessageBytes = 5 * 1024 * 1024;

const text: Field = { read: (value) => value, expected: 'text' };
const line: Field = { read: oneLine, expected: 'text; line breaks become spaces' };
const name: Field = { read: (value) => oneLine(value).trim(), expected: line.expected };
const code: Field = { read: (value) => value.trim(), expected: 'text' };
const list: Field = { read: readList, expected: 'a list separated by , or ; or line breaks' };
const time: Field = { read: readTime, expected: 'YYYY-MM-DD HH:MM:SS, RFC 3339 or Unix seconds' };
const message: Field = {
  read: (value) => (Buffer.byteLength(value) <= maxMessageBytes ? value : undefined),
  expected: 'text of at most 5 MiB; stored as an outgoing message, and not sent',
};
const id: Field = { read: readId, expected: 'a positive whole number' };

/**
 * The writable scalar fields of POST /ticket, and `answer`. `externalTicketId` is set by the import itself, `tags` from the
 * tag columns.
 */
export const ticketFields: ReadonlyMap<string, Field> = new Map([
  ['subject', line],
  ['body', text],
  ['answer', message],
  ['from', code],
  ['fromName', name],
  ['to', list],
  ['cc', list],
  ['bcc', list],
  [
    'priority',
    choice({ low: 'low', medium: 'medium', normal: 'medium', high: 'high', urgent: 'urgent', critical: 'urgent' }),
  ],
  ['status', choice(same('open', 'pending', 'closed'))],
  ['channel', choice({ ...same('email', 'portal', 'phone', 'letter', 'system', 'chat', 'walkIn'), 'e-mail': 'email' })],
  ['direction', choice(same('in', 'out', 'internal'))],
  ['createdAt', time],
  ['firstResponseDueBy', time],
  ['dueBy', time],
  ['contractId', code],
  ['agentId', id],
  ['subchannelId', id],
  ['templateId', id],
]);

/** A field with a fixed set of spellings, which are read without regard to case and surrounding spaces. */
function choice(spellings: Record<string, string>): Field {
  const values = new Map(Object.entries(spellings).map(([spelling, value]) => [spelling.toLowerCase(), value]));
  const expected = `one of ${Object.keys(spellings).join(', ')}`;
  return { read: (value) => values.get(value.trim().toLowerCase()), expected };
}

function same(...words: string[]): Record<string, string> {
  return Object.fromEntries(words.map((entry) => [entry, entry]));
}

/** Joins lines: the server refuses line breaks in mail headers, and exported subjects often have those of folding. */
function oneLine(value: string): string {
  const lines = value.split(/[\r\n]+/);
  if (lines.length === 1) return value;
  return lines
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ');
}

function readList(value: string): string[] {
  return value
    .split(/[,;\r\n]/)
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
