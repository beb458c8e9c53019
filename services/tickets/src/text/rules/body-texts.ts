import { sanitiseHtml } from '@ticketing/html/sanitise-html.ts';
import { cleanBody, MAX_CLEAN_CHARS, plainBody, textMarkup } from './body-text.ts';

/** The texts that are made of a body once, when it is written, and stored beside it. */
export interface BodyTexts {
  /** The sanitised HTML; null if the body is shown as a text (see `escapeTags`). */
  bodyHtml: string | null;
  bodyPlain: string;
  bodyClean: string;
}

/**
 * The number of the rules by which texts are made of bodies. Raise it with each change of their results, also when a
 * change is taken back: a read that finds an older number makes the texts again.
 */
export const bodyRules = 3;

/**
 * How many bytes the texts of a body may have together, so that they fit into the document with the other fields. Beyond
 * it, HTML is shown as text.
 */
const MAX_TEXTS_BYTES = 6_815_744;

/** Makes all texts of a body. With `isText` it is no HTML, whatever it contains. Some bodies of 5 MiB take seconds. */
export function bodyTexts(body: string, isText = false): BodyTexts {
  const text = body.replaceAll('\0', '');
  const markup = isText ? null : textMarkup(text);
  const bodyPlain = plainBody(text, markup);
  const bodyClean = cleanBody(text, markup);
  if (markup === null) return { bodyHtml: null, bodyPlain, bodyClean };
  const bodyHtml = sanitiseHtml(text);
  const bytes = [bodyHtml, bodyPlain, bodyClean].reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  return { bodyHtml: bytes <= MAX_TEXTS_BYTES ? bodyHtml : null, bodyPlain, bodyClean };
}

/** The texts of a body that could not be converted: it is shown and read as it is. */
export function unconvertedTexts(body: string): BodyTexts {
  return { bodyHtml: null, bodyPlain: body, bodyClean: body.slice(0, MAX_CLEAN_CHARS).toWellFormed() };
}
