import { isHtml } from '@ticketing/html/is-html.ts';
import { LITERAL_LESS_THAN } from '@ticketing/html/markup-writer.ts';
import { normaliseMarkup } from '@ticketing/html/normalise-markup.ts';
import { cutChars } from '@ticketing/runtime/cut-text.ts';
import { compile, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import {
  findHeaderBlock,
  isClosing,
  isDeviceLine,
  isSeparator,
  isShortClosing,
  MAX_MARK_CHARS,
  readHeading,
  startsForwarded,
} from './mail-lines.ts';

/**
 * How many characters of HTML are converted to text, after removal of most attributes and inline images. The rest is
 * ignored.
 */
const MAX_MARKUP_CHARS = 1_048_576;

/** How many characters of text are cleaned and returned. The models that read the text need no more. */
export const MAX_CLEAN_CHARS = 262_144;

/** How many lines with text a signature may have. A longer ending belongs to the message. */
const MAX_SIGNATURE_LINES = 25;

/** How many lines may follow a short closing. */
const MAX_SHORT_SIGNATURE_LINES = 12;

/** A line with `>` so close below a heading means that the lines without are the author's replies. */
const MAX_LINES_BEFORE_QUOTE = 5;

/**
 * Converts a body to plain text.
 *
 * Shape: a body without a real tag (see `isHtml`) keeps its lines and spaces. In HTML, blocks and rows become lines,
 * cells are separated by ` | `, links keep their text only, images, scripts, styles and hidden elements are dropped.
 * Lines have no trailing space, no control and no invisible characters, and there is at most one empty line in a row.
 * Time is linear in the input; of HTML, 1,048,576 characters of text and bare tags are read.
 * Source: docs/reference/api.md, Ticket fields.
 */
export function plainBody(body: string, markup = textMarkup(body)): string {
  return tidy(markup === null ? body : extractText(markup, wholeText)).replace(MARKS, '');
}

/** The markup of which the text of a body is made; null if the body is text. Both conversions accept it. */
export function textMarkup(body: string): string | null {
  if (!isHtml(body)) return null;
  return normaliseMarkup(body.replace(MARKS, ''), TEXT_ATTRIBUTES).slice(0, MAX_MARKUP_CHARS);
}

/**
 * Converts a body to plain text without quoted replies, signatures and footers, for models to read.
 *
 * Shape: quotes that the mail program has marked in the HTML are removed first, then the lines after a reply heading or
 * a mail header block, `>` lines, lines such as "Sent from my iPhone", then the signature from `-- ` or a closing phrase
 * on, if it is at most 25 lines long; a postscript in it stays. Thanks and other short closings start a signature only
 * after a message, and before a few lines that are no sentences. Text after a "Forwarded message" line stays. If nothing
 * is left, the result is the plain text. `mail-lines.ts` has the languages: headings and header blocks in 26 of Europe,
 * lines of mail programs and closings in English, German, French, Spanish, Portuguese, Italian, Dutch, Danish, Norwegian,
 * Swedish, Polish and Czech.
 * Time is linear in the input: 262,144 characters of text are read, a line beyond 300 characters is never a heading,
 * and lookahead is limited. email-reply-parser is not used, because its patterns take seconds for 4 KB of hostile
 * text.
 * Source: docs/reference/api.md, Ticket fields.
 */
export function cleanBody(body: string, markup = textMarkup(body)): string {
  const text = markup === null ? body : extractText(markup, unquotedText);
  const own = withoutSignature(withoutQuotes(tidy(text.slice(0, MAX_CLEAN_CHARS)).split('\n')));
  const cleaned = tidy(own.join('\n').replace(MARKS, '')).trim();
  return cleaned === '' ? plainBody(body, markup).trim().slice(0, MAX_CLEAN_CHARS) : cleaned;
}

/**
 * Marks that the formatters below put into the text. They are private use characters, which normal text does not
 * contain.
 */
const CUT = '\uE0F0';
const QUOTE = '\uE0F1';
const CELL = '\uE0F2';
const MARKS = /[\uE0F0-\uE0F2]/g;

const TEXT_ATTRIBUTES = new Set(['class', 'id', 'name', 'style', 'type', 'data-smartmail', 'start']);

const cell: FormatCallback = (element, walk, builder) => {
  builder.addInline(` ${CELL} `);
  walk(element.children, builder);
};

const item: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 1 });
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 1, blockTransform: (text) => `- ${text.trimStart()}` });
};

const line = (text: string): FormatCallback => {
  return (_element, _walk, builder) => {
    builder.openBlock({ leadingLineBreaks: 1 });
    builder.addInline(text);
    builder.closeBlock({ trailingLineBreaks: 1 });
  };
};

const blockFormat = (selector: string, lineBreaks: number) => ({
  selector,
  format: 'block',
  options: { leadingLineBreaks: lineBreaks, trailingLineBreaks: lineBreaks },
});

const TEXT_OPTIONS: HtmlToTextOptions = {
  baseElements: { selectors: [], returnDomByDefault: true },
  wordwrap: false,
  limits: { maxInputLength: 2 * MAX_MARKUP_CHARS },
  whitespaceCharacters: ' \t\r\n\f\u200b\u00a0',
  formatters: { cell, item, cut: line(CUT), quote: line(QUOTE) },
  selectors: [
    { selector: 'a', format: 'inline' },
    { selector: 'img', format: 'skip' },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    { selector: 'li', format: 'item' },
    { selector: 'hr', format: 'block' },
    { selector: 'wbr', format: 'wbr' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'blockquote', 'ul', 'ol', 'dl', 'table'].map((tag) =>
      blockFormat(tag, 2),
    ),
    ...['address', 'center', 'figure', 'figcaption', 'dt', 'dd', 'tr', 'caption'].map((tag) => blockFormat(tag, 1)),
    { selector: '[style*="display:none"]', format: 'skip' },
    { selector: '[style*="display: none"]', format: 'skip' },
  ],
};

/** Elements that mail programs put around a quote. The text after one may be a reply to it. */
const QUOTED = [
  'blockquote[type="cite"]',
  'blockquote[type="CITE"]',
  'blockquote.gmail_quote',
  '.yahoo_quoted',
  '[class*="yahoo_quoted"]',
  '.protonmail_quote',
  '.tutanota_quote',
  'div[name="quote"]',
];

/** Headings of quotes, and signatures. */
const DROPPED = [
  '.gmail_attr',
  '.gmail_signature',
  '[data-smartmail="gmail_signature"]',
  '.gmail_signature_prefix',
  '.moz-cite-prefix',
  '.moz-signature',
  '#AppleMailSignature',
  '#Signature',
  '#signature',
  '#ms-outlook-mobile-signature',
  '#ms-outlook-mobile-body-separator-line',
  '[class*="yahoo-signature"]',
  '.protonmail_signature_block',
];

/** Headings after which everything to the end of the mail is a quote. */
const QUOTED_FROM = [
  '#divRplyFwdMsg',
  '#appendonsend',
  '#mail-editor-reference-message-container',
  '#OLK_SRC_BODY_SECTION',
  ...['#E1E1E1', '#e1e1e1', '#B5C4DF', '#b5c4df'].flatMap((color) => [
    `div[style*="border-top:solid ${color}"]`,
    `div[style*="border-top: solid ${color}"]`,
    `div[style*="border-top:${color}"]`,
  ]),
];

const wholeText = compile(TEXT_OPTIONS);
const unquotedText = compile({
  ...TEXT_OPTIONS,
  selectors: [
    ...(TEXT_OPTIONS.selectors ?? []),
    ...QUOTED.map((selector) => ({ selector, format: 'quote' })),
    ...DROPPED.map((selector) => ({ selector, format: 'skip' })),
    ...QUOTED_FROM.map((selector) => ({ selector, format: 'cut' })),
  ],
});

const link: FormatCallback = (element, walk, builder) => {
  const href = element.attribs.href ?? '';
  let text = '';
  builder.pushWordTransform((word) => {
    text += word;
    return word;
  });
  walk(element.children, builder);
  builder.popWordTransform();
  const address = href.replace(/^(?:mailto|tel):/i, '');
  const isShown = text.replace(/\/$/, '') === address.replace(/\s/g, '').replace(/\/$/, '');
  if (address !== '' && !isShown) builder.addInline(` <${address}>`, { noWordTransform: true });
};

const image: FormatCallback = (element, _walk, builder) => {
  const alt = element.attribs.alt?.trim() ?? '';
  if (alt !== '') builder.addInline(`[${alt}]`);
};

const textOfMail = compile({
  ...TEXT_OPTIONS,
  formatters: { ...TEXT_OPTIONS.formatters, link, image },
  selectors: [
    ...(TEXT_OPTIONS.selectors ?? []),
    { selector: 'a', format: 'link' },
    { selector: 'img', format: 'image' },
    { selector: 'ol', format: 'orderedList', options: { leadingLineBreaks: 2, trailingLineBreaks: 2 } },
    { selector: 'ol > li', format: 'inline' },
  ],
});

const MAIL_ATTRIBUTES = new Set([...TEXT_ATTRIBUTES, 'href', 'alt']);

/**
 * Converts the sanitised HTML of an outgoing mail to its text part.
 *
 * Shape: as `plainBody`; besides, a link is followed by its address, items of ordered lists have their numbers, and images
 * are named by their texts. Source: docs/reference/api.md, Outgoing mail.
 */
export function mailText(html: string): string {
  const markup = normaliseMarkup(html.replace(MARKS, ''), MAIL_ATTRIBUTES).slice(0, MAX_MARKUP_CHARS);
  // Lists within lists indent each of their lines.
  return cutChars(tidy(extractText(markup, textOfMail)).replace(MARKS, ''), MAX_MARKUP_CHARS);
}

function extractText(markup: string, toText: (markup: string) => string): string {
  return toText(markup).replaceAll(LITERAL_LESS_THAN, '<').split('\n').map(tableRow).join('\n');
}

/**
 * Joins the cells of a row by ` | `, without empty ones at its ends. A row of a layout table often has just one cell.
 */
function tableRow(text: string): string {
  if (!text.includes(CELL)) return text;
  const cells = text.split(CELL).map((part) => part.trim());
  while (cells[0] === '') cells.shift();
  while (cells.at(-1) === '') cells.pop();
  return cells.join(' | ');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are to be removed
const INVISIBLE = /[\0-\x08\x0e-\x1f\x7f\u00ad\u200b\u2060\ufeff\ufffe]|\u034f/g;
const LINE_BREAK = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
const BLANK = /^(?:[\s\u200c\u200e\u200f]|\u200d)*$/;

function tidy(text: string): string {
  const lines: string[] = [];
  for (const raw of text
    .replace(LINE_BREAK, '\n')
    .replace(INVISIBLE, '')
    .replace(/[\u00a0\u202f]/g, ' ')
    .split('\n')) {
    const kept = BLANK.test(raw) ? '' : raw.trimEnd();
    if (kept !== '' || (lines.length > 0 && lines.at(-1) !== '')) lines.push(kept);
  }
  if (lines.at(-1) === '') lines.pop();
  return lines.join('\n');
}

function withoutQuotes(lines: readonly string[]): string[] {
  const own: string[] = [];
  const headerBlock = findHeaderBlock(lines);
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines[index] ?? '';
    const mark = text.length <= MAX_MARK_CHARS ? text.trim() : '';
    if (mark === CUT || isSeparator(mark) || index === headerBlock) break;
    if (startsForwarded(mark)) return own.concat(lines.slice(index));
    if (isQuoted(text)) continue;
    const heading = readHeading(lines, index);
    if (heading === null) {
      own.push(text);
      continue;
    }
    const next = lines.slice(heading.end, heading.end + 2).find((candidate) => candidate !== '');
    const below = lines.slice(heading.end, heading.end + MAX_LINES_BEFORE_QUOTE);
    if (next === undefined || isQuoted(next)) index = heading.end - 1;
    else if (heading.certain && !below.some(mayBeQuoted)) break;
    else own.push(text);
  }
  return own;
}

function isQuoted(text: string): boolean {
  return text.startsWith('>') || text === QUOTE || (text.startsWith(' ') && text.trimStart().startsWith('>'));
}

/** The Bat quotes with initials, `KP> Text`, which a prompt such as `SQL> ` resembles. */
function mayBeQuoted(text: string): boolean {
  return isQuoted(text) || /^ ?[^\s<>]{1,4}>/.test(text);
}

const POSTSCRIPT = /^p\. ?s\.?[:.\s]|^ps[:.]? ?\S|^post ?scriptum/i;
const DISCLAIMER =
  /^(?:this (?:e-?mail|message|communication)|the information (?:contained )?in this|diese (?:e-?mail|nachricht)|der inhalt dieser|ce (?:message|courriel|mail)|cet e-?mail|este (?:mensaje|correo|e-?mail)|esta (?:mensagem|comunicación)|confidentiality notice|disclaimer\b)/i;
const CONFIDENTIAL = /confidential|privileged|vertraulich|confidentiel|confidencial|disclaimer/i;
const RULE = /^[-_=*~#]{2,200}$/;

function withoutSignature(lines: readonly string[]): string[] {
  const own = lines.filter((text, index) => !isDeviceLine(text.trim(), lines[index - 1] === ''));
  trimEnd(own);
  const from = signatureStart(own);
  if (from === own.length) return own;
  const postscript = own.findIndex(
    (text, index) => index > from && POSTSCRIPT.test(text.slice(0, MAX_MARK_CHARS).trim()),
  );
  const kept = own.slice(0, from);
  trimEnd(kept);
  return postscript === -1 ? kept : [...kept, '', ...own.slice(postscript)];
}

/** The index of the first line within the last ones that starts a signature, or the number of lines. */
function signatureStart(lines: readonly string[]): number {
  let start = lines.length;
  let withText = 0;
  for (let index = lines.length - 1; index >= 0 && withText <= MAX_SIGNATURE_LINES; index -= 1) {
    const text = (lines[index] ?? '').trim();
    if (text !== '') withText += 1;
    if (startsSignature(text)) start = index;
  }
  return shortClosing(lines, start) ?? start;
}

/** The index of a short closing with a message before it, and little more than a name between it and `end`. */
function shortClosing(lines: readonly string[], end: number): number | undefined {
  let start: number | undefined;
  for (let index = end - 1; index >= Math.max(0, end - MAX_SHORT_SIGNATURE_LINES); index -= 1) {
    const text = (lines[index] ?? '').trim();
    if (isShortClosing(text)) start = index;
    else if (mayBeMessage(text)) break;
  }
  return start !== undefined && lines.slice(0, start).some(isMessage) ? start : undefined;
}

/** Whether a line is a sentence or has a number, except that of a telephone. */
function mayBeMessage(text: string): boolean {
  if (text.length > 100 || text.endsWith('?')) return true;
  if (/\d/.test(text) && !/^(?:tel|fon|phone|mob|handy|fax|[+0(])/i.test(text)) return true;
  return text.split(' ').filter((part) => /^\p{Ll}/u.test(part)).length >= 3;
}

/** Whether a line is more than a greeting such as "Dear Ms Doe,". */
function isMessage(text: string): boolean {
  const words = text.trim().split(/\s+/, 5).length;
  return words >= (/[.?]$/.test(text) ? 3 : 5) && !/[,!]$/.test(text);
}

function startsSignature(text: string): boolean {
  if (text === '--' || isClosing(text)) return true;
  return DISCLAIMER.test(text.slice(0, 60)) && CONFIDENTIAL.test(text.slice(0, 2_000));
}

function trimEnd(lines: string[]): void {
  for (let last = lines.at(-1)?.trim(); last !== undefined; last = lines.at(-1)?.trim()) {
    if (last !== '' && !RULE.test(last)) return;
    lines.pop();
  }
}
