import { checkTemplate } from './check-template.ts';
import { positionOf, type TemplateProblem } from './problem.ts';
import { partsAround, placeholder, showsBetween } from './wrapper.ts';

/**
 * What is wrong with the text of an e-mail template: as of any template, or because it has not `%MESSAGE%` exactly once, at a
 * place where each message is shown as it was written. So an e-mail template and a message that are valid by themselves are
 * valid together, and a change of one needs no look at the other. What values could still make of the place, such as the
 * name of an element, is looked at when the message is rendered.
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

/** What is wrong with a message: as of any template, or with its ends. */
export function messageProblems(message: string): readonly TemplateProblem[] {
  const checked = checkTemplate(message);
  return 'problems' in checked ? checked.problems : endProblems(message);
}

/** What is wrong with how a message begins or ends, in the middle of another text. */
export function endProblems(message: string): readonly TemplateProblem[] {
  if (message.startsWith('}')) return [joined(message, 0, 'begin with }')];
  if (endsLikeTag(message)) return [joined(message, message.length - 1, 'end with { or \\')];
  return [];
}

const endsLikeTag = (text: string) => text.endsWith('{') || text.endsWith('\\');

function misplacement(wrapper: string, program: hbs.AST.Program): string | undefined {
  const isText = (node: hbs.AST.Statement) => contentOf(node)?.includes(placeholder) ?? false;
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

/** What follows a `<` decides whether it begins a tag: nothing, a letter, or something else. */
const possibleValues = ['', 'x', '%'];

/** The text outside of tags, with `value` in the place of each value. */
function textIn(program: hbs.AST.Program | undefined, value = ''): string {
  const textOf = (node: hbs.AST.Statement): string => {
    if (node.type === 'MustacheStatement') return value;
    const { program: inner, inverse } = node as Partial<hbs.AST.BlockStatement>;
    return contentOf(node) ?? textIn(inner, value) + textIn(inverse, value);
  };
  return (program?.body ?? []).map(textOf).join('');
}

function contentOf(node: hbs.AST.Statement): string | undefined {
  return node.type === 'ContentStatement' ? String((node as hbs.AST.ContentStatement).original) : undefined;
}

function misplaced(text: string, offset: number, what: string): TemplateProblem {
  return { code: 'message_placeholder', detail: `${placeholder} ${what}.`, ...positionOf(text, offset) };
}

function joined(text: string, offset: number, what: string): TemplateProblem {
  const detail = `A message cannot ${what}, because the text around it would be read as a part of a tag.`;
  return { code: 'template_syntax', detail, ...positionOf(text, offset) };
}
