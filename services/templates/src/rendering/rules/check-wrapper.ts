import { checkTemplate } from './check-template.ts';
import { findPosition, type TemplateProblem } from './problem.ts';
import { partsAround, placeholder, showsBetween } from './wrapper.ts';

/**
 * Returns the problems of the text of an e-mail template. It must be a valid template with exactly one `%MESSAGE%`, at
 * a place where each message is shown as it was written. So an e-mail template and a message that are each valid are
 * valid together, and a change of one does not require a check of the other. Rendering checks the values that could
 * still change the place, such as the name of an element.
 *
 * Source: docs/reference/api.md, E-mail templates.
 */
export function wrapperProblems(wrapper: string): readonly TemplateProblem[] {
  const checked = checkTemplate(wrapper);
  if ('problems' in checked) return checked.problems;
  const first = wrapper.indexOf(placeholder);
  const last = wrapper.lastIndexOf(placeholder);
  const at = Math.max(0, last);
  if (first === -1) return [misplaced(wrapper, at, 'must be in the text')];
  if (first !== last) return [misplaced(wrapper, at, 'must be in the text once only')];
  const what = misplacement(wrapper, checked.program);
  return what === undefined ? [] : [misplaced(wrapper, at, what)];
}

/** Returns the problems of a message as a template, or else of its start and end. */
export function messageProblems(message: string): readonly TemplateProblem[] {
  const checked = checkTemplate(message);
  return 'problems' in checked ? checked.problems : endProblems(message);
}

/** Returns the problems of the start and the end of a message within another text. */
export function endProblems(message: string): readonly TemplateProblem[] {
  if (message.startsWith('}')) return [joined(message, 0, 'begin with }')];
  if (endsLikeTag(message)) return [joined(message, message.length - 1, 'end with { or \\')];
  return [];
}

const endsLikeTag = (text: string) => text.endsWith('{') || text.endsWith('\\');

function misplacement(wrapper: string, program: hbs.AST.Program): string | undefined {
  const isText = (node: hbs.AST.Statement) => readContent(node)?.includes(placeholder) ?? false;
  if (!program.body.some(isText)) {
    return textIn(program).includes(placeholder)
      ? 'must be outside of blocks, which could repeat it or leave it out'
      : 'must be outside of tags';
  }
  const [before, after] = partsAround(wrapper);
  if (endsLikeTag(before)) return 'must not follow { or \\';
  if (after.startsWith('}')) return 'must not be followed by }';
  return possibleValues.every((value) => showsBetween(...partsAround(textIn(program, value))))
    ? undefined
    : 'must be where HTML has text that is shown, for example in a paragraph';
}

/** Kinds of values: the text after a `<` decides whether it begins a tag (none, a letter, another character). */
const possibleValues = ['', 'x', '%'];

/** Returns the text outside of tags, with `value` in the place of each value. */
function textIn(program: hbs.AST.Program | undefined, value = ''): string {
  const renderText = (node: hbs.AST.Statement): string => {
    if (node.type === 'MustacheStatement') return value;
    const { program: inner, inverse } = node as Partial<hbs.AST.BlockStatement>;
    return readContent(node) ?? textIn(inner, value) + textIn(inverse, value);
  };
  return (program?.body ?? []).map(renderText).join('');
}

function readContent(node: hbs.AST.Statement): string | undefined {
  return node.type === 'ContentStatement' ? String((node as hbs.AST.ContentStatement).original) : undefined;
}

function misplaced(text: string, offset: number, what: string): TemplateProblem {
  return { code: 'message_placeholder', detail: `${placeholder} ${what}.`, ...findPosition(text, offset) };
}

function joined(text: string, offset: number, what: string): TemplateProblem {
  const detail = `A message cannot ${what}, because the text around it would be read as a part of a tag.`;
  return { code: 'template_syntax', detail, ...findPosition(text, offset) };
}
