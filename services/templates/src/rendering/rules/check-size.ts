import { findPosition, type TemplateProblem } from './problem.ts';

/** How large a template may be. `depth` counts blocks and helpers inside each other; nodes are parts of its tree. */
export const sizeLimits = {
  chars: 1024 * 1024,
  tags: 2_000,
  /** The text between `{{` and `}}` of all tags, comments included. */
  tagChars: 32_768,
  literalChars: 4_096,
  nodes: 5_000,
  depth: 32,
  pathParts: 16,
};

/** A tag in the source: the text between its braces, and its position. */
interface Tag {
  text: string;
  offset: number;
}

/**
 * Checks in linear time, before a template is parsed, the sizes that can be counted in its text, because the parser of
 * Handlebars takes time that is quadratic in the depth. The counts are approximate; the tree is checked afterwards.
 */
export function checkSize(template: string): TemplateProblem | undefined {
  if (template.length > sizeLimits.chars) return tooLarge(`A template has at most ${sizeLimits.chars} characters.`);
  const raw = template.indexOf('{{{{');
  if (raw !== -1)
    return { ...findPosition(template, raw), code: 'syntax_not_allowed', detail: 'A template has no raw blocks.' };
  let tags = 0;
  let chars = 0;
  const depths = new BlockDepths();
  for (const { text, offset } of readTags(template)) {
    tags += 1;
    chars += text.length;
    if (tags > sizeLimits.tags) return tooLarge(`A template has at most ${sizeLimits.tags} tags.`, template, offset);
    if (chars > sizeLimits.tagChars)
      return tooLarge(`The tags of a template have at most ${sizeLimits.tagChars} characters.`, template, offset);
    if (depths.after(text) + parenthesesIn(text) > sizeLimits.depth) return tooDeep(template, offset);
  }
  return undefined;
}

/** Returns the problem of a template with too many blocks and helpers inside each other. */
export function tooDeep(template = '', offset = 0): TemplateProblem {
  const detail = `Blocks and helpers are nested at most ${sizeLimits.depth} deep.`;
  return { code: 'template_too_deep', detail, ...findPosition(template, offset) };
}

function* readTags(template: string): Generator<Tag> {
  for (let open = template.indexOf('{{'); open !== -1; ) {
    const isComment = template.startsWith('!--', open + 2) || template.startsWith('~!--', open + 2);
    const close = template.indexOf(isComment ? '--}}' : '}}', open + 2);
    const end = close === -1 ? template.length : close;
    const isEscaped = template.charAt(open - 1) === '\\' && template.charAt(open - 2) !== '\\';
    yield { text: isEscaped ? '' : template.slice(open + 2, end), offset: open };
    open = template.indexOf('{{', Math.max(end, open + 2));
  }
}

/** How many blocks are open; each `else if` opens a block inside the one that it continues. */
class BlockDepths {
  readonly #open: number[] = [];
  #depth = 0;

  /** Returns the depth after a tag. */
  after(tag: string): number {
    const [, kind] = /^~?\s*(#|\^(?!~?$)|\/|else\s+[^\s~])/.exec(tag) ?? [];
    if (kind === '/') this.#depth -= this.#open.pop() ?? 0;
    else if (kind?.startsWith('else')) this.#add(this.#open.pop() ?? 0);
    else if (kind !== undefined) this.#add(0);
    return this.#depth;
  }

  #add(already: number): void {
    this.#open.push(already + 1);
    this.#depth += 1;
  }
}

function parenthesesIn(tag: string): number {
  let open = 0;
  let deepest = 0;
  for (const character of tag) {
    if (character === '(') deepest = Math.max(deepest, ++open);
    else if (character === ')') open -= 1;
  }
  return deepest;
}

function tooLarge(detail: string, template = '', offset = 0): TemplateProblem {
  return { code: 'template_too_large', detail, ...findPosition(template, offset) };
}
