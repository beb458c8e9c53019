import { sanitiseHtml } from '@ticketing/html/sanitise-html.ts';
import Handlebars from 'handlebars';
import type { TemplateHelper } from './helper.ts';
import { helpers } from './helpers.ts';

/** What a template becomes: HTML, in which values are escaped and which still has to be sanitised, or plain text. */
export type TextForm = 'html' | 'plain';

/** Renders a template with variables. */
export type CompiledTemplate = (variables: object) => string;

const environment = Handlebars.create();
environment.unregisterHelper('lookup');
environment.unregisterHelper('log');
for (const helper of helpers) environment.registerHelper(helper.name, delegateOf(helper));

/** What `{{{a}}}` calls. It has a space in it, so that no template can name it. */
const closedHtml = 'closed HTML';
environment.registerHelper(closedHtml, (value: unknown) => sanitiseHtml(String(value ?? '')));

const knownHelpers = Object.fromEntries([...helpers.map(({ name }) => name), closedHtml].map((name) => [name, true]));

/**
 * Compiles a template. `program` is the tree of one that `checkTemplate` has accepted; it is used up.
 *
 * The HTML of a value is sanitised before it is inserted: what a customer has left open in it must not hide the text of the
 * template that follows.
 */
export function compileTemplate(program: hbs.AST.Program, form: TextForm): CompiledTemplate {
  const noEscape = form === 'plain';
  if (form === 'html') new ValueCloser().accept(program);
  const template = environment.compile(program, { knownHelpers, knownHelpersOnly: true, noEscape });
  return (variables) =>
    template(variables, { allowProtoPropertiesByDefault: false, allowProtoMethodsByDefault: false });
}

/** Has every value that is inserted as HTML sanitised by itself. */
class ValueCloser extends Handlebars.Visitor {
  override MustacheStatement(node: hbs.AST.MustacheStatement): void {
    if (node.escaped) return;
    const { path, params, hash, loc } = node;
    const value = params.length === 0 ? path : { type: 'SubExpression', path, params, hash, loc };
    const helper = { type: 'PathExpression', data: false, depth: 0, parts: [closedHtml], original: closedHtml, loc };
    Object.assign(node, { path: helper, params: [value], hash: undefined });
  }
}

/** What Handlebars calls: with the values, and at last with how the helper was written. */
function delegateOf({ call }: TemplateHelper): Handlebars.HelperDelegate {
  return function run(this: unknown, ...values: unknown[]): unknown {
    const { fn, inverse } = values.pop() as Partial<Handlebars.HelperOptions>;
    const result = call(...values);
    if (!fn && !inverse) return result;
    return result ? fn?.(this) : inverse?.(this);
  };
}
