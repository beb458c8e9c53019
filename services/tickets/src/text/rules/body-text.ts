import { isHtml } from '@ticketing/html/is-html.ts';
import { LITERAL_LESS_THAN } from '@ticketing/html/markup-writer.ts';
import { normaliseMarkup } from '@ticketing/html/normalise-markup.ts';
import { compile, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';

/**
 * How many characters of HTML are converted to text, after removal of most attributes and inline images. The rest is
 * ignored.
 */
const MAX_MARKUP_CHARS = 1_048_576;

/** How many characters of text are cleaned and returned. The models that read the text need no more. */
export const MAX_CLEAN_CHARS = 262_144;

/** A longer line is never taken for the heading of a quote or the start of a signature. */
const MAX_MARK_CHARS = 300;

/** How many lines with text a signature may have. A longer ending belongs to the message. */
const MAX_SIGNATURE_LINES = 25;

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
 * a mail header block, `>` lines, lines such as "Sent from my iPhone", then the signature from `-- ` or a closing phrase on, if it is at most
 * 25 lines long; a postscript in it stays. Text after a "Forwarded message" line stays. If nothing is left, the
 * result is the plain text. English, German, French, Spanish and Portuguese; the reply headings of some more languages.
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
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines[index] ?? '';
    const mark = text.length <= MAX_MARK_CHARS ? text.trim() : '';
    if (mark === CUT || SEPARATOR.test(mark) || isHeaderBlock(lines, index, mark)) break;
    if (FORWARDED.test(mark)) return own.concat(lines.slice(index));
    if (isQuoted(text)) continue;
    const heading = readHeading(lines, index, mark);
    if (heading === null) {
      own.push(text);
      continue;
    }
    const next = lines.slice(heading.end, heading.end + 2).find((candidate) => candidate !== '');
    if (next === undefined || isQuoted(next)) index = heading.end - 1;
    else if (heading.certain) break;
    else own.push(text);
  }
  return own;
}

function isQuoted(text: string): boolean {
  return text.startsWith('>') || text === QUOTE || (text.startsWith(' ') && text.trimStart().startsWith('>'));
}

const SEPARATOR =
  /^[-_=*]{2,60} ?(?:original(?:-| )?(?:message|nachricht)|ursprüngliche nachricht|message d['’]origine|mensaje original|mensagem original|messaggio originale|oorspronkelijk bericht|oprindelig besked) ?[-_=*]{2,60}$/i;
const FORWARDED =
  /^(?:[-_=*]{2,60} ?(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|mensagem (?:encaminhada|reencaminhada)) ?[-_=*]{2,60}|(?:begin forwarded message|anfang der weitergeleiteten nachricht|début du message réexpédié|inicio del mensaje reenviado|início da mensagem (?:encaminhada|reencaminhada)):)$/i;

const HEADER_FROM = /^\*?(?:from|von|de|da|van|från|fra) ?:\*? ?\S/i;
const HEADER_DATE =
  /^\*?(?:sent|date|gesendet|datum|envoyé(?: le)?|enviad[oa](?: el| em)?|fecha|data|inviato|verzonden) ?:\*? ?\S/i;
const HEADER_OTHER = /^\*?(?:to|an|à|para|a|aan|cc|subject|betreff|objet|asunto|assunto|oggetto|onderwerp) ?:\*? ?\S/i;

/**
 * Recognises Outlook's "From / Sent / To / Subject", also with empty lines in between, and GMX's, which starts with the
 * date.
 */
function isHeaderBlock(lines: readonly string[], at: number, first: string): boolean {
  const fromFirst = HEADER_FROM.test(first);
  if (!fromFirst && !HEADER_DATE.test(first)) return false;
  const second = fromFirst ? HEADER_DATE : HEADER_FROM;
  const below = lines.slice(at + 1, at + 9).map((text) => text.slice(0, MAX_MARK_CHARS).trim());
  return below.some((text) => second.test(text)) && below.some((text) => HEADER_OTHER.test(text));
}

const HEADING_START = /^(?:on|am|le|el|em|no dia|a|il|op|den|dnia|w dniu)\s/i;
const HEADING_VERB =
  /(?:wrote|a écrit|escribió|escreveu|ha scritto|geschrieben|napisał(?:\(a\))?|pisze) ?:$|\s(?:schrieb|schreef|skrev)\s?(?:[^\s].*)?:$/i;
const HEADING_BY_AUTHOR = /(?:^|\s)(?:schrieb am|wrote on|a écrit le|escribió el|escreveu (?:em|no dia))\s.*\d.*:$/i;
const OWN_WRITING = /\b(?:schrieb ich|ich .*geschrieben|i wrote|j['’]ai écrit)\b/i;
const TIME_OR_ADDRESS = /\d[:h]\d\d|\S@\S/;

interface Heading {
  /** The index after its last line. */
  readonly end: number;
  /** It contains a time or an address, so the text after it is a quote even without `>`. */
  readonly certain: boolean;
}

/** Recognises "On …, … wrote:", which mail programs wrap to up to three lines. */
function readHeading(lines: readonly string[], at: number, first: string): Heading | null {
  const starts = HEADING_START.test(first);
  if (!starts && !first.endsWith(':')) return null;
  let text = first;
  for (let end = at + 1; end <= at + 3; end += 1) {
    const matches = text.endsWith(':') && (HEADING_BY_AUTHOR.test(text) || HEADING_VERB.test(text));
    if (matches && !OWN_WRITING.test(text) && (starts || text.includes('@') || HEADING_BY_AUTHOR.test(text))) {
      return { end, certain: TIME_OR_ADDRESS.test(text) };
    }
    const next = lines[end];
    if (!starts || next === undefined || next === '' || text.length + next.length > MAX_MARK_CHARS) return null;
    text = `${text} ${next.trim()}`;
  }
  return null;
}

const DEVICE = matchAny([
  'sent (?:from|via|with) (?:my|an? (?:phone|mobile)|outlook|mail for|yahoo|the|proton|samsung|gmail|iphone|ipad|android)',
  'get outlook for',
  'von mein(?:em|er) .{1,60} gesendet$',
  'gesendet (?:von (?:mein|outlook|mail|yahoo|iphone)|mit (?:der|dem|outlook|proton)|aus (?:der|dem|meine))',
  'diese nachricht wurde von mein|holen sie sich outlook|outlook für .{1,20} (?:herunterladen|beziehen)',
  "envoyé (?:de mon|depuis (?:mon|ma|l['’]|outlook|yahoo|mail)|à partir d|avec (?:outlook|proton|l['’]))",
  'télécharger outlook|obtenez outlook',
  'enviado (?:desde (?:mi|el|la|outlook|yahoo)|d[eoa] (?:meu|minha|mi|outlook)|a partir d[eoa]|com o)',
  'obtener outlook|descargar outlook|obt(?:er|enha) o outlook',
  'inviato da(?:l mio)? |verzonden (?:vanaf|met|vanuit)|verstuurd vanaf',
]);

const GRUSS = '(?:gruß|gruss|grüßen?|grüssen?)';
const CLOSING = matchAny([
  '(?:with )?(?:(?:best|kind|kindest|warm|warmest) (?:regards|wishes)|regards)',
  '(?:many thanks|thanks|thank you) and (?:best |kind )?regards',
  'sincerely(?: yours)?|yours (?:sincerely|faithfully|truly)|cheers|all the best|many thanks',
  `(?:mit )?(?:freundlich|best|herzlich|lieb|viel|schön|sonnig|nett)(?:en|em|er|e)(?: (?:lieb|herzlich)en?)? ${GRUSS}`,
  `(?:vielen )?danke?(?: im voraus)? und (?:viele|freundliche|beste|liebe|herzliche) ${GRUSS}`,
  'hochachtungsvoll|mfg|lg|vg',
  '(?:bien |très )?cordialement(?: à vous)?|bien à vous|amicalement|respectueusement',
  '(?:sincères|meilleures|cordiales|respectueuses) salutations|bonne (?:journée|soirée)',
  '(?:un )?(?:cordial |atento )?saludos?(?: cordial(?:es)?| atentos?)?|(?:muy )?atentamente|cordialmente|un abrazo',
  '(?:com os |os )?(?:melhores|meus) cumprimentos|cumprimentos|(?:muito )?atenciosamente',
  '(?:um )?abraço|saudações(?: cordiais)?',
]);
const AFTER_CLOSING =
  /^[,.!\s]*$|^[,.!]*\s+(?:(?:aus|from|vom|von|de|desde|do|da) )?(?:\p{Lu}[\p{L}.'’-]{0,30}(?:[\s,]+|$)){1,4}$/u;
const POSTSCRIPT = /^p\. ?s\.?[:.\s]|^ps[:.]? ?\S|^post ?scriptum/i;
const DISCLAIMER =
  /^(?:this (?:e-?mail|message|communication)|the information (?:contained )?in this|diese (?:e-?mail|nachricht)|der inhalt dieser|ce (?:message|courriel|mail)|cet e-?mail|este (?:mensaje|correo|e-?mail)|esta (?:mensagem|comunicación)|confidentiality notice|disclaimer\b)/i;
const CONFIDENTIAL = /confidential|privileged|vertraulich|confidentiel|confidencial|disclaimer/i;
const RULE = /^[-_=*~#]{2,200}$/;

function withoutSignature(lines: readonly string[]): string[] {
  const own = lines.filter((text) => text.length > 120 || !DEVICE.test(text.trim()));
  trimEnd(own);
  const from = signatureStart(own);
  if (from === -1) return own;
  const postscript = own.findIndex(
    (text, index) => index > from && POSTSCRIPT.test(text.slice(0, MAX_MARK_CHARS).trim()),
  );
  const kept = own.slice(0, from);
  trimEnd(kept);
  return postscript === -1 ? kept : [...kept, '', ...own.slice(postscript)];
}

/** The index of the first line within the last ones that starts a signature, or -1. */
function signatureStart(lines: readonly string[]): number {
  let start = -1;
  let withText = 0;
  for (let index = lines.length - 1; index >= 0 && withText <= MAX_SIGNATURE_LINES; index -= 1) {
    const text = (lines[index] ?? '').trim();
    if (text !== '') withText += 1;
    if (startsSignature(text)) start = index;
  }
  return start;
}

function startsSignature(text: string): boolean {
  if (text === '--') return true;
  if (DISCLAIMER.test(text.slice(0, 60))) return CONFIDENTIAL.test(text.slice(0, 2_000));
  const closing = text.length <= 100 ? CLOSING.exec(text)?.[0] : undefined;
  return closing !== undefined && AFTER_CLOSING.test(text.slice(closing.length));
}

function trimEnd(lines: string[]): void {
  for (let last = lines.at(-1)?.trim(); last !== undefined; last = lines.at(-1)?.trim()) {
    if (last !== '' && !RULE.test(last)) return;
    lines.pop();
  }
}

function matchAny(patterns: readonly string[]): RegExp {
  return new RegExp(`^(?:${patterns.join('|')})`, 'iu');
}
