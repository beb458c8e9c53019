import { blockElements, names, tableElements, voidElements } from './html-elements.ts';

/** How many elements may be open at the same time. Further tags are dropped, and their text stays. */
export const MAX_DEPTH = 256;

/** How many tags one body may have. Later ones are dropped, and their text stays. */
const MAX_TAGS = 50_000;

/** How many characters an attribute other than an image source may have. A longer one is dropped. */
const MAX_ATTRIBUTE_CHARS = 8_192;

/** Replaces each `<` that starts no tag: an entity would cost the parsers 2 µs. It is a noncharacter of Unicode. */
export const LITERAL_LESS_THAN = '\uFFFE';

const IMPLIED_END = impliedEnds();
const SCOPE = new Set(names('table td th'));
const SCOPED = new Set(tableElements);

/** Writes balanced markup of at most `MAX_DEPTH` open elements and `MAX_TAGS` tags. */
export class MarkupWriter {
  readonly #parts: string[] = [];
  readonly #stack: string[] = [];
  readonly #openCount = new Map<string, number>();
  #tags = 0;

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
    if (voidElements.has(name)) return;
    this.#stack.push(name);
    this.#openCount.set(name, (this.#openCount.get(name) ?? 0) + 1);
  }

  close(name: string): void {
    if (name === 'br') this.open('br', new Map());
    if (!this.#openCount.get(name)) return;
    const inTable = SCOPED.has(name);
    for (let index = this.#stack.length - 1; index >= 0; index -= 1) {
      const candidate = this.#stack[index] ?? '';
      if (candidate === name) {
        while (this.#stack.length > index) this.#pop();
        return;
      }
      if (inTable ? candidate === 'table' : SCOPE.has(candidate)) return;
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

/**
 * For each element, the open elements that its start tag ends. The markup ends them explicitly, as the parser of
 * sanitize-html otherwise would, so that a second pass changes nothing.
 */
function impliedEnds(): ReadonlyMap<string, ReadonlySet<string>> {
  const heading = names('h1 h2 h3 h4 h5 h6');
  const cell = names('td th');
  return new Map<string, ReadonlySet<string>>([
    ...[...blockElements, 'figcaption'].map((name): [string, Set<string>] => [name, new Set(['p'])]),
    ...heading.map((name): [string, Set<string>] => [name, new Set([...heading, 'p'])]),
    ...cell.map((name): [string, Set<string>] => [name, new Set([...cell, 'thead'])]),
    ['tr', new Set([...cell, 'tr'])],
    ...names('tbody thead tfoot').map((name): [string, Set<string>] => [
      name,
      new Set([...cell, 'tr', 'tbody', 'thead', 'tfoot']),
    ]),
    ...names('dd dt').map((name): [string, Set<string>] => [name, new Set(['dd', 'dt'])]),
    ['li', new Set(['li'])],
    ['a', new Set(['a'])],
  ]);
}
