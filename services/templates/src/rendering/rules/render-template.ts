import { isHtml } from '@ticketing/html/is-html.ts';
import { sanitiseHtml } from '@ticketing/html/sanitise-html.ts';
import { LRUCache } from 'lru-cache';
import { checkTemplate } from './check-template.ts';
import { type CompiledTemplate, compileTemplate, type TextForm } from './compile-template.ts';
import { maxRenderedBytes } from './max-rendered-bytes.ts';
import type { TemplateProblem } from './problem.ts';
import { showsBetween } from './wrapper.ts';

/** Templates by their text. A template of a few characters takes a few kB when it is compiled. */
const templateCache = (maxSize: number) =>
  new LRUCache<string, CompiledTemplate>({ max: 500, maxSize, sizeCalculation: (_, template) => template.length + 1 });

const compiled: Record<TextForm, LRUCache<string, CompiledTemplate>> = {
  html: templateCache(2 * 1024 * 1024),
  plain: templateCache(256 * 1024),
};

/** A template that `checkTemplate` refuses. */
export class RefusedTemplate extends Error {
  override readonly name = 'RefusedTemplate';
  readonly problems: readonly TemplateProblem[];

  constructor(problems: readonly TemplateProblem[]) {
    super(problems[0]?.detail);
    this.problems = problems;
  }
}

/** A template that becomes longer than `maxRenderedBytes`. */
export class TooMuchOutput extends Error {
  override readonly name = 'TooMuchOutput';
}

/** The length of the longest rendered subject; a longer one is cut off. */
const maxSubjectChars = 998;

/**
 * Renders a message, and the texts before and after it, with the same variables into HTML that a client may show. No
 * value can make the text before the message hide it. It may take long and need much memory, so it runs in a worker.
 *
 * Errors: RefusedTemplate; TooMuchOutput; an Error for a value that cannot be shown.
 * Source: docs/reference/guarantees.md, Untrusted input.
 */
export function renderHtml(message: string, variables: object, [before, after] = ['', '']): string {
  let length = 0;
  const [first = '', middle = '', last = ''] = [before, message, after].map((template) => {
    const part = limited(withLength(compile(template, 'html'), variables));
    length += Buffer.byteLength(part);
    if (length > maxRenderedBytes) throw new TooMuchOutput();
    return part.toWellFormed();
  });
  if (showsBetween(first, last)) return sanitiseHtml(first + middle + last);
  return [first, middle, last].map(sanitiseHtml).join('');
}

/**
 * Makes HTML of a rendered message that has no tag: a paragraph with its lines. Otherwise a reader would take it for plain
 * text, and show its character references, such as `&amp;`, as they are.
 */
export function withTags(rendered: string): string {
  if (isHtml(rendered)) return rendered;
  const text = rendered.trim();
  return text === '' ? '' : `<p>${text.replace(/\r\n?|\n/g, '<br />')}</p>`;
}

/** Renders a template as a subject: plain text of one line, in which nothing is escaped. Errors: those of `renderHtml`. */
export function renderSubject(template: string, variables: object): string {
  const line = limited(withLength(compile(template, 'plain'), variables))
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line
    .slice(0, maxSubjectChars)
    .toWellFormed()
    .replace(/\ufffd$/, '')
    .trimEnd();
}

/** Renders a template. Errors: TooMuchOutput, if the result is too long for any text. */
function withLength(render: CompiledTemplate, variables: object): string {
  try {
    return render(variables);
  } catch (error) {
    // V8 throws this for a text of more than 512 MiB, whose parts need no memory.
    if (error instanceof RangeError && error.message === 'Invalid string length') throw new TooMuchOutput();
    throw error;
  }
}

/** Refuses a long result before anything is done with it. */
function limited(rendered: string): string {
  // Checks the length first, because V8 joins the parts of a text to count its bytes.
  if (rendered.length > maxRenderedBytes || Buffer.byteLength(rendered) > maxRenderedBytes) throw new TooMuchOutput();
  return rendered;
}

function compile(template: string, form: TextForm): CompiledTemplate {
  const known = compiled[form].get(template);
  if (known) return known;
  const checked = checkTemplate(template);
  if ('problems' in checked) throw new RefusedTemplate(checked.problems);
  const render = compileTemplate(checked.program, form);
  compiled[form].set(template, render);
  return render;
}
