import { parseArgs } from 'node:util';
import { type OperationArguments, type OperationName, operations, requireOperation } from './operations.ts';

/** The operation that an operator requests. */
export interface OperationRequest extends OperationArguments {
  name: OperationName;
}

/**
 * Reads a request from the arguments of a program: the name of an operation and its options, by name (`--key 17`) or in
 * the order of the table (`17`).
 *
 * Errors: no such operation; a wrong argument.
 */
export function parseRequest([first = '', ...args]: readonly string[]): OperationRequest {
  const name = requireOperation(first);
  const { options = [] } = operations[name];
  const { values, positionals } = parseOptions(
    args,
    options.map((option) => option.name),
  );
  const given = { ...values };
  for (const option of options) given[option.name] ??= positionals.shift();
  const [surplus] = positionals;
  if (surplus !== undefined) throw new Error(`"${surplus}" is no option of ${name} (--help lists them).`);
  return toRequest(name, given);
}

/** Makes a request from the texts of its options. Errors: one is unknown or missing, or its text is not what it takes. */
export function toRequest(name: OperationName, texts: Readonly<Record<string, string | undefined>>): OperationRequest {
  const { options = [] } = operations[name];
  const unknown = Object.keys(texts).find(
    (text) => texts[text] !== undefined && !options.some((option) => option.name === text),
  );
  if (unknown !== undefined) throw new Error(`${name} has no option --${unknown} (--help lists them).`);
  const request: OperationRequest = { name };
  for (const option of options) {
    const text = texts[option.name] ?? option.default;
    if (text !== undefined) Object.assign(request, option.read(text));
    else if (option.isRequired) throw new Error(`Name ${option.does} with --${option.name}.`);
  }
  return request;
}

function parseOptions(args: string[], names: readonly string[]) {
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)} (--help lists the options)`);
  }
}
