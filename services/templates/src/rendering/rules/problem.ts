/** Why a template is refused. */
export type TemplateProblemCode =
  /** It cannot be parsed. */
  | 'template_syntax'
  /** It uses a part of Handlebars that templates may not use. */
  | 'syntax_not_allowed'
  /** It reads a name that templates may not read. */
  | 'name_not_allowed'
  | 'unknown_helper'
  | 'wrong_argument_count'
  /** A helper has an argument that it does not take. */
  | 'wrong_argument'
  /** It does not have `%MESSAGE%` exactly once, at a place where the message is shown. */
  | 'message_placeholder'
  | 'template_too_deep'
  | 'template_too_large';

/** One thing that is wrong with a template. Units: lines and columns begin with 1. */
export interface TemplateProblem {
  code: TemplateProblemCode;
  detail: string;
  line: number;
  column: number;
}

/** Returns where a character of a template is. */
export function findPosition(template: string, offset: number): Pick<TemplateProblem, 'line' | 'column'> {
  const lines = template.slice(0, offset).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
