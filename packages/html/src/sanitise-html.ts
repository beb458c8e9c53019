import sanitizeHtml from 'sanitize-html';
import { cleanStyle } from './clean-style.ts';
import { droppedElements, names, shownElements, voidElements } from './html-elements.ts';
import { isHtml } from './is-html.ts';
import { LITERAL_LESS_THAN, MAX_DEPTH } from './markup-writer.ts';
import { normaliseMarkup } from './normalise-markup.ts';

/**
 * Converts a stored body into one that a client may put into `innerHTML`.
 *
 * Shape: HTML is reduced to an allow-list of elements, attributes, styles and URL schemes. A body without a real tag is
 * text; see `escapeTags`. Stable: a second pass changes nothing. Time is linear in the input: beyond 256 open elements
 * or 50,000 tags a tag is dropped and its text stays.
 * Source: docs/reference/api.md, Ticket fields; docs/reference/guarantees.md, Untrusted input.
 */
export function sanitiseHtml(body: string): string {
  if (!body.includes('<')) return body;
  const text = body.replaceAll('\0', '');
  if (!isHtml(text)) return escapeTags(text);
  return sanitizeHtml(normaliseMarkup(text, SHOWN_ATTRIBUTES), OPTIONS).replaceAll(LITERAL_LESS_THAN, '&lt;');
}

/**
 * Makes a text that a client may put into `innerHTML`, in which tags are shown as text: each `<` that a browser would
 * read as the start of a tag becomes `&lt;`. `following` is the text after it, if it is a part of a longer one.
 */
export function escapeTags(text: string, following = ''): string {
  if (!text.includes('<')) return text;
  const next = following === '' ? '' : TAG_START.test(`<${following.charAt(0)}`) ? 'a' : ' ';
  const escaped = (text + next).replace(TAG_STARTS, '&lt;').replaceAll('\0', '');
  return next === '' ? escaped : escaped.slice(0, -1);
}

// A NUL is dropped afterwards, so the name of a tag could follow it.
const TAG_START = /<(?:[a-z/!?\0])/i;
const TAG_STARTS = /<(?=[a-z/!?\0]|$)/gi;

const COMMON_ATTRIBUTES = names('align bgcolor dir height lang style title valign width');
const ATTRIBUTES_OF: Record<string, string[]> = {
  '*': COMMON_ATTRIBUTES,
  a: names('href target rel'),
  img: names('src alt border hspace vspace'),
  table: names('border cellpadding cellspacing'),
  td: names('colspan rowspan nowrap'),
  th: names('colspan rowspan nowrap scope'),
  col: names('span'),
  colgroup: names('span'),
  font: names('color face size'),
  ol: names('start type'),
  ul: names('type'),
};
const SHOWN_ATTRIBUTES = new Set(Object.values(ATTRIBUTES_OF).flat());

const LINK = /^(?:https?:\/\/|mailto:|tel:)/i;
/** The images that a body may show: also files of tickets and templates, by their paths. */
const IMAGE =
  /^(?:https:\/\/|cid:|data:image\/(?:png|jpe?g|gif|webp);base64,[a-z0-9+/=\s]*$|\/(?:ticket|template)\/\d{1,10}\/attachment\/[a-z0-9]{8}$)/i;

const OPTIONS: sanitizeHtml.IOptions = {
  allowedTags: [...shownElements],
  allowedAttributes: ATTRIBUTES_OF,
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['https', 'cid', 'data'] },
  allowProtocolRelative: false,
  nonTextTags: [...droppedElements, 'option'],
  selfClosing: [...voidElements],
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
