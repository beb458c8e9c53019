import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { droppedElements, shownElements } from './html-elements.ts';
import { MarkupWriter } from './markup-writer.ts';

/**
 * Rewrites HTML into balanced markup of known elements, so that the parsers of the libraries, which are quadratic in
 * the depth, see at most 256 open elements and 50,000 tags.
 *
 * Shape: comments, scripts, styles and unknown elements are dropped (the text of the latter stays), a `<` that starts
 * no tag becomes `LITERAL_LESS_THAN`, and only the given attributes remain. It does not make HTML safe: values are not
 * checked.
 */
export function normaliseMarkup(html: string, attributes: ReadonlySet<string>): string {
  const reader = new MarkupReader(html, attributes);
  const tokenizer = new Tokenizer({ decodeEntities: false }, reader);
  tokenizer.write(html);
  tokenizer.end();
  return reader.markup();
}

const PLAUSIBLE_NAME = /^[a-z][a-z0-9-]*(?::[a-z][a-z0-9-]*)?$/;

/** Passes the tokens of a text on to a writer. */
class MarkupReader implements TokenizerCallbacks {
  readonly #html: string;
  readonly #wanted: ReadonlySet<string>;
  readonly #writer = new MarkupWriter();
  /** The offset after the last token. */
  #readTo = 0;
  #tagName = '';
  #attributes = new Map<string, string>();
  #attributeName = '';
  /** The element whose content is being dropped. */
  #dropped = '';

  constructor(html: string, wanted: ReadonlySet<string>) {
    this.#html = html;
    this.#wanted = wanted;
  }

  /** Returns the markup. A tag that has no end is text. */
  markup(): string {
    this.ontext(this.#readTo, this.#html.length);
    return this.#writer.end();
  }

  ontext(start: number, end: number): void {
    if (end > start && this.#dropped === '') this.#writer.text(this.#html.slice(start, end));
    this.#readTo = end;
  }

  onopentagname(start: number, end: number): void {
    this.#tagName = this.#html.slice(start, end).toLowerCase();
    this.#attributes = new Map();
  }

  onattribname(start: number, end: number): void {
    const name = this.#html.slice(start, end).toLowerCase();
    const isFirst = this.#wanted.has(name) && !this.#attributes.has(name);
    this.#attributeName = isFirst ? name : '';
    if (isFirst) this.#attributes.set(name, '');
  }

  onattribdata(start: number, end: number): void {
    if (this.#attributeName !== '') this.#attributes.set(this.#attributeName, this.#html.slice(start, end));
  }

  onopentagend(end: number): void {
    const from = this.#readTo;
    this.#readTo = end + 1;
    if (this.#dropped !== '') return;
    if (!PLAUSIBLE_NAME.test(this.#tagName)) this.ontext(from, end + 1);
    else if (droppedElements.has(this.#tagName)) this.#dropped = this.#tagName;
    else if (shownElements.has(this.#tagName)) this.#writer.open(this.#tagName, this.#attributes);
  }

  onselfclosingtag(end: number): void {
    this.onopentagend(end);
  }

  onclosetag(start: number, end: number): void {
    const name = this.#html.slice(start, end).toLowerCase();
    const close = this.#html.indexOf('>', end);
    this.#readTo = close === -1 ? this.#html.length : close + 1;
    if (this.#dropped === name) this.#dropped = '';
    else if (this.#dropped === '' && shownElements.has(name)) this.#writer.close(name);
  }

  oncomment(_start: number, end: number): void {
    this.#readTo = end + 1;
  }

  ondeclaration(_start: number, end: number): void {
    this.#readTo = end + 1;
  }

  onattribend(): void {}
  onattribentity(): void {}
  oncdata(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}
  ontextentity(): void {}
}
