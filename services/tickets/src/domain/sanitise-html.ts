import sanitizeHtml from 'sanitize-html';

/** How many elements may be open at the same time. Further tags are dropped, their text is kept. */
const MAX_DEPTH = 256;

/** How many tags one body may have. Later ones are dropped, their text is kept. */
const MAX_TAGS = 50_000;

/** How many characters an attribute other than an image source may have. A longer one is dropped. */
const MAX_ATTRIBUTE_CHARS = 8_192;

const BLOCK = words(`address article aside blockquote center dl div figure footer h1 h2 h3 h4 h5 h6 header hr main nav
  ol p pre section table ul`);
const TABLE_PART = words('caption col colgroup table tbody td tfoot th thead tr');
const INLINE = words(`a abbr b bdi bdo big br cite code del dfn em font i img ins kbd mark q s samp small span strike
  strong sub sup time tt u var wbr`);
const ALLOWED = new Set([...BLOCK, ...TABLE_PART, ...INLINE, ...words('dd dt figcaption li')]);
const VOID = new Set(words('br col hr img wbr'));
const RAW_TEXT = new Set(words('iframe noembed noframes noscript plaintext script style textarea title xmp'));

const IMPLIED_END = impliedEnds();
const SCOPE = new Set(words('table td th'));
const TABLE_PART_SET = new Set(TABLE_PART);

const STANDALONE = [...BLOCK, ...TABLE_PART, ...words('html head body br img li dd dt')].join('|');
const KNOWN = [...ALLOWED, ...RAW_TEXT]
  .concat(words('html head body meta link base form input button select option label svg math object embed'))
  .join('|');
const REAL_TAG = new RegExp(
  `<(?:(?:${STANDALONE})[\\t\\n\\f\\r ]*/?>|/(?:${KNOWN})[\\t\\n\\f\\r ]*>|(?:${KNOWN})[\\t\\n\\f\\r /][^<>=]*=[^<>]*>)`,
  'i',
);

/**
 * Whether a body is HTML, that is, whether it contains a real tag; `a < b and c > d` and
 * `Max <max@example.com>` do not.
 *
 * Shape: a real tag is a known element that is structural (`<p>`, `<br>`), has an attribute (`<a href=…>`) or is
 * closed (`</b>`). A lone `<b>` in a sentence is text.
 */
export function isHtml(body: string): boolean {
  return body.includes('<') && REAL_TAG.test(body);
}

/**
 * Converts a stored body into one that a client may put into `innerHTML`.
 *
 * Shape: HTML is reduced to an allow-list of elements, attributes, styles and URL schemes. A body without a real tag is
 * text and is returned unchanged, except that a `<` which a browser would read as the start of a tag becomes `&lt;`.
 * Stable: a second pass changes nothing. Time is linear in the input: beyond 256 open elements or 50,000 tags a tag is
 * dropped and its text kept.
 * Source: docs/reference/api.md, Ticket fields; docs/reference/guarantees.md, Untrusted input.
 */
export function sanitiseHtml(body: string): string {
  if (!body.includes('<')) return body;
  const text = body.replaceAll('\0', '');
  if (!isHtml(text)) return text.replace(/<(?=[a-z/!?]|$)/gi, '&lt;');
  return sanitizeHtml(normaliseMarkup(text, SHOWN_ATTRIBUTES), OPTIONS).replaceAll(LITERAL_LESS_THAN, '&lt;');
}

/** Replaces each `<` that starts no tag: an entity would cost the parsers 2 µs. It is a noncharacter of Unicode. */
export const LITERAL_LESS_THAN = '\uFFFE';

/**
 * Rewrites HTML into balanced markup of known elements, so that the parsers of the libraries, which are quadratic in
 * the depth, see at most 256 open elements and 50,000 tags.
 *
 * Shape: comments, scripts, styles and unknown elements are dropped (the text of the latter is kept), a `<` that starts
 * no tag becomes `LITERAL_LESS_THAN`, and only the given attributes remain. It does not make HTML safe: values are not
 * checked.
 */
export function normaliseMarkup(html: string, attributes: ReadonlySet<string>): string {
  const out = new MarkupWriter(attributes);
  let at = 0;
  while (at < html.length) {
    MARKUP_START.lastIndex = at;
    const open = MARKUP_START.exec(html)?.index ?? html.length;
    if (open > at) out.text(html.slice(at, open));
    at = open < html.length ? readMarkup(html, open, out) : open;
  }
  return out.end();
}

class MarkupWriter {
  readonly attributes: ReadonlySet<string>;
  readonly #parts: string[] = [];
  readonly #stack: string[] = [];
  readonly #openCount = new Map<string, number>();
  #tags = 0;

  constructor(attributes: ReadonlySet<string>) {
    this.attributes = attributes;
  }

  text(text: string): void {
    this.#parts.push(text.replaceAll('<', LITERAL_LESS_THAN));
  }

  open(name: string, attributes: ReadonlyMap<string, string>): void {
    const ended = IMPLIED_END.get(name);
    while (ended?.has(this.#stack.at(-1) ?? '')) this.#pop();
    if (this.#stack.length >= MAX_DEPTH || this.#tags >= MAX_TAGS) {
      this.#parts.push(' ');
      return;
    }
    this.#tags += 1;
    this.#parts.push(`<${name}${renderAttributes(attributes)}>`);
    if (VOID.has(name)) return;
    this.#stack.push(name);
    this.#openCount.set(name, (this.#openCount.get(name) ?? 0) + 1);
  }

  close(name: string): void {
    if (name === 'br') this.open('br', new Map());
    if (!this.#openCount.get(name)) return;
    const isTablePart = TABLE_PART_SET.has(name);
    for (let index = this.#stack.length - 1; index >= 0; index -= 1) {
      const candidate = this.#stack[index] ?? '';
      if (candidate === name) {
        while (this.#stack.length > index) this.#pop();
        return;
      }
      if (isTablePart ? candidate === 'table' : SCOPE.has(candidate)) return;
    }
  }

  end(): string {
    while (this.#stack.length > 0) this.#pop();
    return this.#parts.join('');
  }

  #pop(): void {
    const name = this.#stack.pop();
    if (name === undefined) return;
    this.#openCount.set(name, (this.#openCount.get(name) ?? 1) - 1);
    this.#parts.push(`</${name}>`);
  }
}

function renderAttributes(attributes: ReadonlyMap<string, string>): string {
  let rendered = '';
  for (const [name, value] of attributes) {
    if (value.length <= MAX_ATTRIBUTE_CHARS || name === 'src')
      rendered += ` ${name}="${value.replaceAll('"', '&quot;')}"`;
  }
  return rendered;
}

const MARKUP_START = /<(?=[a-z/!?])/gi;
const TAG_NAME = /[a-z][^\t\n\f\r />< ]*/iy;
const PLAUSIBLE_NAME = /^[a-z][a-z0-9-]*(?::[a-z][a-z0-9-]*)?$/i;
const GAP = /[\t\n\f\r /]*/y;
const ATTRIBUTE_NAME = /=?[^\t\n\f\r />=]*/y;
const EQUALS = /[\t\n\f\r ]*=[\t\n\f\r ]*/y;
const BARE_VALUE = /[^\t\n\f\r >]*/y;

/** Reads the tag or comment that starts with the `<` at an offset, and returns the offset after it. */
function readMarkup(html: string, open: number, out: MarkupWriter): number {
  if (html.startsWith('<!--', open)) return readComment(html, open);
  const next = html[open + 1] ?? '';
  if (next === '!' || next === '?') return offsetAfter(html, '>', open);
  const closing = next === '/';
  const nameAt = open + (closing ? 2 : 1);
  const writtenName = matchAt(TAG_NAME, html, nameAt);
  if (!PLAUSIBLE_NAME.test(writtenName)) {
    out.text('<');
    return open + 1;
  }
  const name = writtenName.toLowerCase();
  const tag = readAttributes(html, nameAt + name.length, out.attributes);
  if (tag === null) {
    out.text(html.slice(open));
    return html.length;
  }
  if (closing) {
    if (ALLOWED.has(name)) out.close(name);
    return tag.end;
  }
  if (RAW_TEXT.has(name)) return readRawText(html, name, tag.end);
  if (ALLOWED.has(name)) out.open(name, tag.attributes);
  return tag.end;
}

function readComment(html: string, open: number): number {
  if (html.startsWith('<!-->', open)) return open + 5;
  if (html.startsWith('<!--->', open)) return open + 6;
  return offsetAfter(html, '-->', open + 4);
}

function readRawText(html: string, name: string, from: number): number {
  const endTag = new RegExp(`</${name}[\\t\\n\\f\\r />]`, 'gi');
  endTag.lastIndex = from;
  const match = endTag.exec(html);
  return match === null ? html.length : offsetAfter(html, '>', match.index);
}

interface OpenTag {
  readonly attributes: ReadonlyMap<string, string>;
  readonly end: number;
}

/** Reads the wanted attributes, the first of each name. Returns null if the tag has no end. */
function readAttributes(html: string, from: number, wanted: ReadonlySet<string>): OpenTag | null {
  const attributes = new Map<string, string>();
  let at = from;
  for (;;) {
    at += matchAt(GAP, html, at).length;
    if (at >= html.length) return null;
    if (html[at] === '>') return { attributes, end: at + 1 };
    const name = matchAt(ATTRIBUTE_NAME, html, at);
    at += name.length;
    const equals = matchAt(EQUALS, html, at);
    at += equals.length;
    const quote = equals === '' ? '' : (html[at] ?? '');
    let value = '';
    if (quote === '"' || quote === "'") {
      const end = html.indexOf(quote, at + 1);
      if (end === -1) return null;
      value = html.slice(at + 1, end);
      at = end + 1;
    } else if (equals !== '') {
      value = matchAt(BARE_VALUE, html, at);
      at += value.length;
    }
    const key = name.toLowerCase();
    if (wanted.has(key) && !attributes.has(key)) attributes.set(key, value);
  }
}

function matchAt(sticky: RegExp, text: string, at: number): string {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0] ?? '';
}

function offsetAfter(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? text.length : found + mark.length;
}

const COMMON_ATTRIBUTES = words('align bgcolor dir height lang style title valign width');
const ATTRIBUTES_OF: Record<string, string[]> = {
  '*': COMMON_ATTRIBUTES,
  a: words('href target rel'),
  img: words('src alt border hspace vspace'),
  table: words('border cellpadding cellspacing'),
  td: words('colspan rowspan nowrap'),
  th: words('colspan rowspan nowrap scope'),
  col: words('span'),
  colgroup: words('span'),
  font: words('color face size'),
  ol: words('start type'),
  ul: words('type'),
};
const SHOWN_ATTRIBUTES = new Set(Object.values(ATTRIBUTES_OF).flat());

const LINK = /^(?:https?:\/\/|mailto:|tel:)/i;
const IMAGE = /^(?:https:\/\/|cid:|data:image\/(?:png|jpe?g|gif|webp);base64,[a-z0-9+/=\s]*$)/i;

const OPTIONS: sanitizeHtml.IOptions = {
  allowedTags: [...ALLOWED],
  allowedAttributes: ATTRIBUTES_OF,
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['https', 'cid', 'data'] },
  allowProtocolRelative: false,
  nonTextTags: [...RAW_TEXT, 'option'],
  selfClosing: [...VOID],
  nestingLimit: MAX_DEPTH + 1,
  parseStyleAttributes: false,
  transformTags: { '*': cleanAttributes },
};

function cleanAttributes(tagName: string, attribs: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  const { style, href, src, rel: _rel, target: _target, ...others } = attribs;
  const cleaned: sanitizeHtml.Attributes = { ...others };
  const safeStyle = style === undefined ? '' : cleanStyle(style);
  if (safeStyle !== '') cleaned.style = safeStyle;
  if (tagName === 'img' && src !== undefined && IMAGE.test(src.trim())) cleaned.src = src.trim();
  if (tagName === 'a' && href !== undefined && LINK.test(href.trim())) {
    Object.assign(cleaned, { href: href.trim(), target: '_blank', rel: 'noopener noreferrer nofollow' });
  }
  return { tagName, attribs: cleaned };
}

const LENGTH = String.raw`(?:0|\d{0,4}(?:\.\d{1,6})?(?:px|pt|em|rem|ex|ch|cm|mm|in|pc|%)|auto)`;
const COLOR = String.raw`(?:#[\da-f]{3,8}|[a-z]{3,25}|(?:rgb|hsl)a?\([\d\s.,%/deg]{1,60}\))`;
const LINE = 'none|hidden|solid|dashed|dotted|double|groove|ridge|inset|outset|thin|medium|thick';
const only = (value: string): RegExp => new RegExp(`^(?:${value})$`, 'i');
const upTo4 = (value: string): RegExp => only(`${value}(?: +${value}){0,3}`);

const STYLE_RULES: ReadonlyMap<string, RegExp> = new Map<string, RegExp>([
  ...each('color background background-color', only(COLOR)),
  ...each(
    'width height min-width max-width min-height max-height text-indent letter-spacing word-spacing',
    only(`${LENGTH}|normal|none`),
  ),
  ...each('margin margin-top margin-right margin-bottom margin-left', upTo4(LENGTH)),
  ...each('padding padding-top padding-right padding-bottom padding-left', upTo4(LENGTH)),
  ...each('border border-top border-right border-bottom border-left', upTo4(`(?:${LENGTH}|${LINE}|${COLOR})`)),
  ...each(
    'border-width border-style border-color border-radius border-spacing',
    upTo4(`(?:${LENGTH}|${LINE}|${COLOR})`),
  ),
  ['border-collapse', only('collapse|separate')],
  ['font-size', only(`${LENGTH}|(?:xx?-)?(?:small|large)|medium|smaller|larger`)],
  [
    'font-family',
    only(String.raw`(?:'[\w -]{1,60}'|[\w-][\w -]{0,60})(?:, *(?:'[\w -]{1,60}'|[\w-][\w -]{0,60})){0,15}`),
  ],
  ['font-style', only('normal|italic|oblique')],
  ['font-variant', only('normal|small-caps')],
  ['font-weight', only('normal|bold|bolder|lighter|[1-9]00')],
  ['line-height', only(String.raw`normal|\d{1,3}(?:\.\d{1,6})?|${LENGTH}`)],
  ['text-align', only('left|right|center|justify|start|end')],
  ['text-decoration', only('none|(?:underline|overline|line-through)(?: +(?:underline|overline|line-through)){0,2}')],
  ['text-transform', only('none|uppercase|lowercase|capitalize')],
  ['vertical-align', only(`baseline|sub|super|top|text-top|middle|bottom|text-bottom|${LENGTH}`)],
  ['white-space', only('normal|nowrap|pre|pre-wrap|pre-line|break-spaces')],
  ['word-break', only('normal|break-all|keep-all|break-word')],
  ['overflow-wrap', only('normal|anywhere|break-word')],
  ['direction', only('ltr|rtl')],
  ['display', only('none|block|inline|inline-block|table|table-row|table-cell|list-item')],
  ['list-style-type', only('none|disc|circle|square|decimal|(?:lower|upper)-(?:alpha|latin|roman)')],
]);

/**
 * Drops declarations that do not match `STYLE_RULES`. It replaces the option `allowedStyles`, which runs a CSS parser.
 */
function cleanStyle(style: string): string {
  const kept = new Map<string, string>();
  for (const declaration of style.split(';')) {
    const colon = declaration.indexOf(':');
    const property = declaration.slice(0, Math.max(colon, 0)).trim().toLowerCase();
    const value = declaration
      .slice(colon + 1)
      .trim()
      .replaceAll('"', "'");
    if (value.length <= 500 && STYLE_RULES.get(property)?.test(value)) kept.set(property, value);
  }
  return Array.from(kept, ([property, value]) => `${property}:${value}`).join(';');
}

/**
 * For each element, the open elements that its start tag ends. The markup ends them explicitly, as the parser of
 * sanitize-html otherwise would, so that a second pass changes nothing.
 */
function impliedEnds(): ReadonlyMap<string, ReadonlySet<string>> {
  const heading = words('h1 h2 h3 h4 h5 h6');
  const cell = words('td th');
  return new Map<string, ReadonlySet<string>>([
    ...[...BLOCK, 'figcaption'].map((name): [string, Set<string>] => [name, new Set(['p'])]),
    ...heading.map((name): [string, Set<string>] => [name, new Set([...heading, 'p'])]),
    ...cell.map((name): [string, Set<string>] => [name, new Set([...cell, 'thead'])]),
    ['tr', new Set([...cell, 'tr'])],
    ...words('tbody thead tfoot').map((name): [string, Set<string>] => [
      name,
      new Set([...cell, 'tr', 'tbody', 'thead', 'tfoot']),
    ]),
    ...words('dd dt').map((name): [string, Set<string>] => [name, new Set(['dd', 'dt'])]),
    ['li', new Set(['li'])],
    ['a', new Set(['a'])],
  ]);
}

function each(names: string, rule: RegExp): [string, RegExp][] {
  return words(names).map((name) => [name, rule]);
}

function words(list: string): string[] {
  return list.trim().split(/\s+/);
}
