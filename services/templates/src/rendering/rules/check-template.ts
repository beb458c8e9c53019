import { checkSize, sizeLimits } from './check-size.ts';
import type { TemplateHelper } from './helper.ts';
import { blocks, helpers } from './helpers.ts';
import { parseTemplate } from './parse-template.ts';
import type { TemplateProblem, TemplateProblemCode } from './problem.ts';

/** The tree of a template that may be compiled, or the problems of the template. */
export type CheckedTemplate = { program: hbs.AST.Program } | { problems: readonly TemplateProblem[] };

/** How many problems of a template are reported. */
const maxProblems = 20;

/**
 * Checks a template before it is saved, and again before it is compiled: it may contain only what is listed here.
 *
 * Source: docs/reference/guarantees.md, Untrusted input.
 */
export function checkTemplate(template: string): CheckedTemplate {
  const tooLarge = checkSize(template);
  if (tooLarge) return { problems: [tooLarge] };
  const program = parseTemplate(template);
  if ('code' in program) return { problems: [program] };
  const check = new TemplateCheck();
  check.program(program, 0);
  return check.problems.length > 0 ? { problems: check.problems } : { program };
}

const findHelper = new Map(helpers.map((helper) => [helper.name, helper]));
const blockNames = new Set(blocks);
/** The names that Handlebars itself calls, which are not values. */
const reservedNames = new Set([
  ...findHelper.keys(),
  ...blocks,
  'lookup',
  'log',
  'helperMissing',
  'blockHelperMissing',
]);
/** The variables of a loop. */
const loopVariables = new Set(['index', 'key', 'first', 'last']);
/** Names that every object has, or that lead to code. */
const forbiddenNames = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  ...['prototype', 'caller', 'callee', 'arguments'],
]);

type Call = hbs.AST.MustacheStatement | hbs.AST.BlockStatement | hbs.AST.SubExpression;

/** Visits the nodes of a template and collects its problems. */
class TemplateCheck {
  readonly problems: TemplateProblem[] = [];
  #nodes = 0;

  program(program: hbs.AST.Program | undefined, depth: number): void {
    for (const name of program?.blockParams ?? []) {
      if (program && (forbiddenNames.has(name) || reservedNames.has(name)))
        this.#report('name_not_allowed', `A loop cannot name its value ${name}.`, program);
    }
    for (const statement of program?.body ?? []) this.#statement(statement, depth);
  }

  #statement(node: hbs.AST.Statement, depth: number): void {
    if (!this.#enter(node, depth)) return;
    if (hasType<hbs.AST.MustacheStatement>(node, 'MustacheStatement')) this.#mustache(node, depth);
    else if (hasType<hbs.AST.BlockStatement>(node, 'BlockStatement')) this.#block(node, depth);
    else if (node.type !== 'ContentStatement' && node.type !== 'CommentStatement')
      this.#report('syntax_not_allowed', `A template cannot have a ${node.type}.`, node);
  }

  #mustache(node: hbs.AST.MustacheStatement, depth: number): void {
    const name = callName(node);
    if (name !== undefined && findHelper.has(name)) this.#call(node, name, depth);
    else if (node.params.length > 0 || node.hash) this.#unknown(node);
    // Handlebars reads the literal as the name of a value.
    else if (node.path.type !== 'PathExpression')
      this.#report('syntax_not_allowed', 'A value has a name; a text needs no tag.', node);
    else this.#value(node.path, depth);
  }

  #block(node: hbs.AST.BlockStatement, depth: number): void {
    const name = callName(node);
    if (name !== undefined && blockNames.has(name)) this.#arguments(node, name, [1, 1], depth);
    else if (name !== undefined && findHelper.get(name)?.isCondition) this.#call(node, name, depth);
    else if (name !== undefined && findHelper.has(name))
      this.#report('syntax_not_allowed', `${name} is neither true nor false, so it cannot be a block.`, node);
    else this.#unknown(node);
    const takesNames = name === 'each' || name === 'with';
    if (!takesNames && (node.program?.blockParams || node.inverse?.blockParams))
      this.#report('syntax_not_allowed', 'Only each and with can name their values.', node);
    this.program(node.program, depth + 1);
    this.program(node.inverse, depth + 1);
  }

  #call(node: Call, name: string, depth: number): void {
    const helper = findHelper.get(name);
    if (!helper) return;
    this.#arguments(node, name, helper.arity, depth);
    this.#keyword(node, helper);
  }

  #arguments(node: Call, name: string, [min, max]: readonly [number, number], depth: number): void {
    if (node.hash) this.#report('syntax_not_allowed', `${name} takes no named arguments.`, node);
    const count = node.params.length;
    if (count < min || count > max) {
      const wanted = min === max ? `${min}` : `${min} to ${max}`;
      this.#report(
        'wrong_argument_count',
        `${name} takes ${wanted} ${max === 1 ? 'argument' : 'arguments'}, not ${count}.`,
        node,
      );
    }
    for (const param of node.params) this.#value(param, depth + 1);
  }

  #keyword(node: Call, { name, keywords }: TemplateHelper): void {
    if (!keywords) return;
    const param = node.params[keywords.position];
    if (!param) return;
    const text = hasType<hbs.AST.StringLiteral>(param, 'StringLiteral') ? param.value : undefined;
    if (text === undefined || !keywords.texts.includes(text)) {
      const texts = keywords.texts.map((one) => `"${one}"`).join(', ');
      this.#report('wrong_argument', `Argument ${keywords.position + 1} of ${name} is one of ${texts}.`, param);
    }
  }

  #value(node: hbs.AST.Expression, depth: number): void {
    if (!this.#enter(node, depth)) return;
    if (hasType<hbs.AST.PathExpression>(node, 'PathExpression')) this.#path(node);
    else if (hasType<hbs.AST.SubExpression>(node, 'SubExpression')) this.#subExpression(node, depth);
    else if (hasType<hbs.AST.StringLiteral>(node, 'StringLiteral')) this.#literal(node);
    else if (!['NumberLiteral', 'BooleanLiteral', 'NullLiteral', 'UndefinedLiteral'].includes(node.type))
      this.#report('syntax_not_allowed', `A template cannot have a ${node.type} here.`, node);
  }

  #subExpression(node: hbs.AST.SubExpression, depth: number): void {
    const name = callName(node);
    if (name !== undefined && findHelper.has(name)) this.#call(node, name, depth);
    else this.#unknown(node);
  }

  #literal(node: hbs.AST.StringLiteral): void {
    if (node.value.length > sizeLimits.literalChars)
      this.#report('template_too_large', `A text in a tag has at most ${sizeLimits.literalChars} characters.`, node);
  }

  #path(node: hbs.AST.PathExpression): void {
    const parts: readonly unknown[] = node.parts;
    const forbidden = parts.find((part) => typeof part !== 'string' || forbiddenNames.has(part));
    if (forbidden !== undefined) this.#report('name_not_allowed', `A template cannot read ${node.original}.`, node);
    else if (node.data && !(parts.length === 1 && loopVariables.has(String(parts[0]))))
      this.#report('name_not_allowed', `A template cannot read ${node.original}.`, node);
    else if (!node.data && parts.length === 1 && reservedNames.has(String(parts[0])))
      this.#report('name_not_allowed', `${node.original} is a helper and no value.`, node);
    else if (parts.length > sizeLimits.pathParts || node.depth > sizeLimits.pathParts)
      this.#report('template_too_deep', `A value is at most ${sizeLimits.pathParts} names away.`, node);
  }

  #unknown(node: Call): void {
    const original = Reflect.get(node.path, 'original');
    this.#report('unknown_helper', `There is no helper ${String(original).slice(0, 100)}.`, node);
  }

  /** Counts a node. Returns whether it may be visited. */
  #enter(node: hbs.AST.Node, depth: number): boolean {
    this.#nodes += 1;
    if (depth > sizeLimits.depth)
      this.#report('template_too_deep', `Blocks and helpers are nested at most ${sizeLimits.depth} deep.`, node);
    else if (this.#nodes === sizeLimits.nodes + 1)
      this.#report('template_too_large', `A template has at most ${sizeLimits.nodes} parts.`, node);
    return depth <= sizeLimits.depth && this.#nodes <= sizeLimits.nodes;
  }

  #report(code: TemplateProblemCode, detail: string, { loc }: hbs.AST.Node): void {
    if (this.problems.length >= maxProblems) return;
    const { line, column } = loc?.start ?? { line: 1, column: 0 };
    this.problems.push({ code, detail, line, column: column + 1 });
  }
}

/** Returns the name by which a helper is called; undefined for anything that is not a single name. */
function callName({ path }: Call): string | undefined {
  if (!hasType<hbs.AST.PathExpression>(path, 'PathExpression') || path.data || path.depth > 0) return undefined;
  const [name] = path.parts;
  // `this.eq` and `[eq]` are written like values.
  return path.parts.length === 1 && name === path.original ? name : undefined;
}

function hasType<Node extends hbs.AST.Node>(node: hbs.AST.Node, type: Node['type'] & string): node is Node {
  return node.type === type;
}
