import { sanitiseHtml } from '@ticketing/html/sanitise-html.ts';
import Handlebars from 'handlebars';
import type { TemplateHelper } from './helper.ts';
import { helpers } from './helpers.ts';

/** The output of a template: HTML with escaped values, which still has to be sanitised, or plain text. */
export type TextForm = 'html' | 'plain';

/** Renders a template with variables. */
export type CompiledTemplate = (variables: object) => string;

const environment = Handlebars.create();
environment.unregisterHelper('lookup');
environment.unregisterHelper('log');
for (const helper of helpers) environment.registerHelper(helper.name, findDelegate(helper));

/** The name of the helper that `{{{a}}}` calls. The space in it keeps templates from naming it. */
const closedHtml = 'closed HTML';
environment.registerHelper(closedHtml, (value: unknown) => sanitiseHtml(String(value ?? '')));

const knownHelpers = Object.fromEntries([...helpers.map(({ name }) => name), closedHtml].map((name) => [name, true]));

/**
 * Compiles a template. `program` is a tree that `checkTemplate` has accepted; it is changed and must not be used again.
 *
 * The HTML of a value is sanitised before it is inserted, because an element that a customer left open in it must not
 * hide the text of the template that follows.
 */
export function compileTemplate(program: hbs.AST.Program, form: TextForm): CompiledTemplate {
  const noEscape = form === 'plain';
  if (form === 'html') new ValueCloser().accept(program);
  const template = environment.compile(program, { knownHelpers, knownHelpersOnly: true, noEscape });
  return (variables) =>
    template(variables, { allowProtoPropertiesByDefault: false, allowProtoMethodsByDefault: false });
}

/** Sanitises each value that is inserted as HTML separately. */
class ValueCloser extends Handlebars.Visitor {
  override MustacheStatement(node: hbs.AST.MustacheStatement): void {
    if (node.escaped) return;
    const { path, params, hash, loc } = node;
    const value = params.length === 0 ? path : { type: 'SubExpression', path, params, hash, loc };
    const helper = { type: 'PathExpression', data: false, depth: 0, parts: [closedHtml], original: closedHtml, loc };
    Object.assign(node, { path: helper, params: [value], hash: undefined });
  }
}

/** Makes the function that Handlebars calls with the values and, last, the options of the helper's call. */
function findDelegate({ call }: TemplateHelper): Handlebars.HelperDelegate {
  return function run(this: unknown, ...values: unknown[]): unknown {
    const { fn, inverse } = values.pop() as Partial<Handlebars.HelperOptions>;
    const result = call(...values);
    if (!fn && !inverse) return result;
    return result ? fn?.(this) : inverse?.(this);
  };
}
