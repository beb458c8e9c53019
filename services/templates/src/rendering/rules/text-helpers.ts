import type { TemplateHelper } from './helper.ts';
import { toText } from './value.ts';

const titles = new Set(['herr', 'herrn', 'frau', 'mr', 'mrs', 'ms', 'dr', 'prof', 'dipl', 'ing', 'mag']);
/** Longer texts are no names. */
const maxNameLength = 320;
const maxDecimals = 6;
/** The least number that is written with an exponent, unlike people write it. */
const maxNumber = 1e15;

/** Helpers for texts and numbers. Source: docs/reference/api.md, Templates. */
export const textHelpers: readonly TemplateHelper[] = [
  {
    name: 'extractFirstName',
    usage: 'name',
    arity: [1, 1],
    isCondition: false,
    meaning: 'The first name of a full name, without titles. Takes "first last" and "last, first".',
    examples: [
      ['{{extractFirstName "Frau Dr. Ada Lovelace"}}', 'Ada'],
      ['{{extractFirstName "Lovelace, Ada"}}', 'Ada'],
    ],
    call: (value) => firstName(toText(value)),
  },
  {
    name: 'last4digits',
    usage: 'text',
    arity: [1, 1],
    isCondition: false,
    meaning: 'The last four digits of a text, for example of an IBAN, whatever is between them.',
    examples: [['{{last4digits "DE89 3704 0044 0532 0130 00"}}', '3000']],
    call: (value) => lastDigits(toText(value), 4),
  },
  {
    name: 'upper',
    usage: 'text',
    arity: [1, 1],
    isCondition: false,
    meaning: 'The text in upper case.',
    examples: [['{{upper "straße"}}', 'STRASSE']],
    call: (value) => toText(value).toUpperCase(),
  },
  {
    name: 'lower',
    usage: 'text',
    arity: [1, 1],
    isCondition: false,
    meaning: 'The text in lower case.',
    examples: [['{{lower "ÄRGER"}}', 'ärger']],
    call: (value) => toText(value).toLowerCase(),
  },
  {
    name: 'default',
    usage: 'value instead',
    arity: [2, 2],
    isCondition: false,
    meaning: 'The value, or the second one if the first is unset or an empty text. 0 and false are values.',
    examples: [
      ['{{default customer.company "your company"}}', 'your company'],
      ['{{default 0 "none"}}', '0'],
    ],
    call: (value, instead) => (toText(value) === '' ? toText(instead) : toText(value)),
  },
  {
    name: 'formatNumberDE',
    usage: 'number decimals',
    arity: [1, 2],
    isCondition: false,
    meaning:
      'The number as it is written in Germany. `decimals` is how many there are, 0 to 6; without it, those that the number ' +
      'has, at most 6. What is no number stays as it is.',
    examples: [
      ['{{formatNumberDE 1234567.5}}', '1.234.567,5'],
      ['{{formatNumberDE "1234.5" 2}}', '1.234,50'],
    ],
    call: (value, decimals) => formatNumber(toText(value), decimals === undefined ? undefined : toText(decimals)),
  },
];

function firstName(name: string): string {
  if (name.length > maxNameLength || name.includes('@')) return '';
  const comma = name.indexOf(',');
  const words = (comma === -1 ? name : name.slice(comma + 1)).split(/[\s,]+/);
  return words.find((word) => word !== '' && !titles.has(word.toLowerCase().replace(/\.$/, ''))) ?? '';
}

function lastDigits(text: string, count: number): string {
  let digits = '';
  for (let at = text.length - 1; at >= 0 && digits.length < count; at--) {
    const character = text.charAt(at);
    if (character >= '0' && character <= '9') digits = character + digits;
  }
  return digits;
}

function formatNumber(text: string, decimals: string | undefined): string {
  if (text.length > 40 || !/^-?\d+(?:\.\d+)?$/.test(text) || Math.abs(Number(text)) >= maxNumber) return text;
  if (decimals !== undefined && !/^[0-6]$/.test(decimals)) return text;
  return new Intl.NumberFormat('de-DE', {
    minimumFractionDigits: Number(decimals ?? 0),
    maximumFractionDigits: Number(decimals ?? maxDecimals),
  }).format(Number(text));
}
