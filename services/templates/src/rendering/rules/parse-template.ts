import Handlebars from 'handlebars';
import { tooDeep } from './check-size.ts';
import type { TemplateProblem } from './problem.ts';

/** The parser that Handlebars generates and shares; its types leave out where an error is. */
interface Parser {
  lexer: { yylloc?: Location };
  parseError(message: string, error: { loc?: Location; token: string | null }): never;
}

interface Location {
  last_line: number;
  last_column: number;
}

/** A text that is not Handlebars. Units: lines and columns begin with 1. */
class SyntaxProblem extends Error {
  override readonly name = 'SyntaxProblem';
  readonly line: number;
  readonly column: number;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

const parser = Reflect.get(Handlebars, 'Parser') as Parser;

// The error that the parser throws by default has the line in its text only, and no column.
parser.parseError = (message, { loc = parser.lexer.yylloc, token }) => {
  const what = token === null ? 'A character that is not expected here' : `Not expected here: ${token}`;
  throw new SyntaxProblem(loc ? what : message, loc?.last_line ?? 1, (loc?.last_column ?? 0) + 1);
};

/**
 * Parses a template. Time is linear in its length.
 *
 * Shape: the tree, or what is wrong.
 */
export function parseTemplate(template: string): hbs.AST.Program | TemplateProblem {
  try {
    return Handlebars.parse(template);
  } catch (error) {
    return toProblem(error);
  }
}

function toProblem(error: unknown): TemplateProblem {
  if (error instanceof RangeError) return tooDeep();
  if (error instanceof SyntaxProblem) {
    const { message, line, column } = error;
    return { code: 'template_syntax', detail: `${message}.`, line, column };
  }
  if (error instanceof Handlebars.Exception) {
    const [detail = ''] = error.message.split(' - ');
    const { lineNumber: line = 1, column = 0 } = error;
    return { code: 'template_syntax', detail: `${detail}.`, line, column: column + 1 };
  }
  throw error;
}
