import { shownElements } from './html-elements.ts';
import { escapeTags, sanitiseHtml } from './sanitise-html.ts';

/**
 * Makes a text that somebody wrote, in Markdown or HTML, harmless to show: as Markdown with any renderer, or as HTML.
 *
 * Shape: a text that begins and ends with a tag is HTML and is reduced as `sanitiseHtml` does. In any other, harmless tags
 * stay, comments become a space, and each other `<` that could begin a tag becomes `&lt;`, in code too, because renderers
 * do not agree on what code is. In both, a link or an image whose scheme is not a usual one leads to `#`. Stable: a second
 * pass changes nothing. Time is linear in the input.
 * Source: docs/reference/api.md, Knowledge; docs/reference/guarantees.md, Untrusted input.
 */
export function cleanMarkdown(text: string): string {
  let cleaned = text.replaceAll('\0', '');
  for (let pass = 0; pass < maxPasses; pass++) {
    const before = cleaned;
    cleaned = cleanOnce(before);
    if (cleaned === before) break;
  }
  return cleaned;
}

function cleanOnce(text: string): string {
  const isMarkup = HTML.test(text.slice(0, 100)) && text.trimEnd().endsWith('>');
  return cleanDestinations(isMarkup ? sanitiseHtml(text) : cleanTags(encodeDestinations(text)));
}

/** Makes all tags and links of a text inert. Replaces the cleaning of a text that would take too much time. */
export function escapeMarkdown(text: string): string {
  return escapeTags(text).replaceAll(/\](?=[(:])/g, '] ');
}

/** Each pass is harmless; its changes can let the next pass find an address in brackets. */
const maxPasses = 5;
const HTML = /^\s*<[a-z!]/i;
const LESS_THAN_OF_TAG = /<(?=[a-z/!?])/gi;
/** The schemes that links may have, and the images in a URL. */
const ALLOWED = /^(?:https?:|mailto:|tel:|cid:|data:image\/(?:png|jpe?g|gif|webp);base64,)/i;
const AUTOLINK = /^<(?:(?:https?:|mailto:|tel:)[^\s<>"'`]*|[\w.!#$%&*+/=?^{|}~-]+@[\w.-]+)>/i;
const TAG = /^<\/?([a-z][a-z0-9]*)(?:[\s/][^<>]*)?>/i;
const PLAIN_TAG = /^<\/?[a-z][a-z0-9]*\s*\/?>$/i;
const COMMENT_END = '-->';
/** How many characters of a tag are read, and how many tags with attributes are kept. */
const maxTagLength = 2000;
const maxTagsWithAttributes = 2000;

/** Renderers read `[text](<a destination>)` like one without brackets, which is not to be taken for a tag. */
function encodeDestinations(text: string): string {
  return text.replace(/(\][(:]\s{0,100})<([^<>\n]{0,2000})>/g, (_whole, before: string, destination: string) => {
    return before + destination.trim().replace(/[\s()"'`\\]/g, (one) => `%${hex(one)}`);
  });
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(2, '0').slice(-2).toUpperCase();
}

function cleanTags(text: string): string {
  const parts: string[] = [];
  let tagsWithAttributes = 0;
  let lastCommentEnd = text.lastIndexOf(COMMENT_END);
  let end = 0;
  for (const { index } of text.matchAll(LESS_THAN_OF_TAG)) {
    if (index < end) continue;
    parts.push(text.slice(end, index));
    if (text.startsWith('<!--', index) && lastCommentEnd > index) {
      // A space, so that the text before and after the comment does not become a tag.
      parts.push(' ');
      end = text.indexOf(COMMENT_END, index + 4) + COMMENT_END.length;
      if (end < COMMENT_END.length) [end, lastCommentEnd] = [index, -1];
      if (end > index) continue;
      parts.pop();
    }
    const part = text.slice(index, index + maxTagLength);
    const kept = AUTOLINK.exec(part)?.[0];
    const [tag = '', name = ''] = TAG.exec(part) ?? [];
    const isShown = shownElements.has(name.toLowerCase());
    if (kept !== undefined) {
      parts.push(kept);
      end = index + kept.length;
    } else if (isShown && PLAIN_TAG.test(tag)) {
      parts.push(tag);
      end = index + tag.length;
    } else if (isShown && !tag.startsWith('</') && tagsWithAttributes < maxTagsWithAttributes) {
      tagsWithAttributes += 1;
      parts.push(cleanTag(tag, name));
      end = index + tag.length;
    } else {
      parts.push('&lt;');
      end = index + 1;
    }
  }
  parts.push(text.slice(end));
  return parts.join('');
}

/** Returns a start tag with its harmless attributes only. */
function cleanTag(tag: string, name: string): string {
  const cleaned = sanitiseHtml(tag);
  const closing = `</${name.toLowerCase()}>`;
  return cleaned.endsWith(closing) ? cleaned.slice(0, -closing.length) : cleaned;
}

/**
 * Replaces by `#` everything that a renderer could read as the destination of a link or image, unless it has an allowed
 * scheme or clearly none. Escapes and character references in front of the path are not read, but refused.
 */
function cleanDestinations(text: string): string {
  return text.replace(DESTINATION, (whole, before: string, destination: string) => {
    if (ALLOWED.test(destination)) return whole;
    const head = /^(?:&#|[^/?#])*/.exec(destination)?.[0] ?? '';
    const isRelative = !/[:\\\p{Cc}]|&#|&\w+;/u.test(head);
    return isRelative ? whole : `${before}#`;
  });
}

/**
 * A destination with balanced parentheses of one level. Before it, a new line of a quotation begins with `>`. It ends
 * where another one could begin, which is matched separately; no scheme has a bracket in it.
 */
const DESTINATION = /(\][(:][\s>]*)((?:(?!\][(:])[^\s()]|\((?:(?!\][(:])[^\s()])*\))+)/g;
