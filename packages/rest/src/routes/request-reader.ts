import { create, type DescField, type DescMessage, type DescMethod, type Message } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import type { RestRule } from '@ticketing/contracts/ticketing/api/v1/options_pb.ts';
import { DomainError, invalidInput, type Violation } from '@ticketing/errors/domain-error.ts';
import { compileMessageDecoder, Problems } from '../codec/decode.ts';
import { fieldNamed } from '../codec/options.ts';
import { messageValidator } from '../codec/rules.ts';
import { type ParsedJson, parseJson } from '../limits/parse-json.ts';
import { parseQuery } from './query.ts';

/** The parts of an HTTP request that become a message. */
export interface RequestParts {
  /** Undefined if there is none, which counts as an empty object. */
  body: ParsedJson | undefined;
  query: string;
  path: Record<string, string>;
}

/** Which part of an HTTP request each field of the message is read from, as the route declares. */
export interface Binding {
  path: readonly DescField[];
  query: readonly DescField[];
  /** The field that the body holds; "*" if the body is the message itself; undefined if the route has no body. */
  body: DescField | '*' | undefined;
}

/** Whether a field of a query holds objects: it is written as JSON, or by names in brackets. */
export function isNested({ message }: DescField): boolean {
  return message !== undefined && message.typeName !== TimestampSchema.typeName;
}

/** Reads the REST requests of a method. */
export interface RequestReader {
  /** Whether the route has a body. Another body is ignored, and need not be parsed. */
  hasBody: boolean;
  read(parts: RequestParts): Message;
  /** Translates a pointer into the message to a pointer into the request. */
  toPointer(pointer: string): string;
}

/** Returns the binding that a route declares. Errors: an Error if the route names a field that the request does not have. */
export function toBinding(method: DescMethod, rule: RestRule): Binding {
  const { input } = method;
  const path = [...rule.path.matchAll(/\{(\w+)\}/g)].map((match) => fieldNamed(input, match[1] ?? ''));
  if (rule.body === '*') return { path, query: rule.query.map((name) => fieldNamed(input, name)), body: '*' };
  const body = rule.body === '' ? undefined : fieldNamed(input, rule.body);
  const rest = input.fields.filter((field) => !path.includes(field) && field !== body);
  return { path, query: rest, body };
}

/** Parameters that only another media type of the same route has, and what is wrong with them here. */
export interface InappropriateParameters {
  names: ReadonlySet<string>;
  detail: string;
}

/**
 * Compiles the reader of a method's REST requests: it decodes path, query and body strictly, then checks the rules of
 * the contract, and reports all problems at once.
 *
 * Errors: invalid_input (or the one code that all violations share).
 * Source: docs/reference/api.md, Values; docs/reference/api.md, Errors.
 */
export function requestReader(
  method: DescMethod,
  binding: Binding,
  findMessage: (typeName: string) => DescMessage | undefined,
  inappropriate: InappropriateParameters = { names: new Set(), detail: '' },
): RequestReader {
  const { input } = method;
  const elsewhere = new Set([...binding.path, ...binding.query].map((field) => field.name));
  const allBut = (fields: readonly DescField[]) =>
    new Set(input.fields.filter((field) => !fields.includes(field)).map((field) => field.name));
  const readPath = compileMessageDecoder(input, { textual: true, without: allBut(binding.path) });
  const readQuery = compileMessageDecoder(input, { textual: true, without: allBut(binding.query) });
  const nested = binding.query.filter(isNested);
  const readNested = compileMessageDecoder(input, { without: allBut(nested) });
  const bodyFields = binding.body === '*' || !binding.body ? elsewhere : allBut([binding.body]);
  const readBody = binding.body && compileMessageDecoder(input, { without: bodyFields, findMessage });
  const bodyField = binding.body === '*' ? undefined : binding.body;
  const bodyPrefix = bodyField && `#/${bodyField.jsonName}`;
  const validate = messageValidator(input);
  const toPointer = pointers(binding, bodyPrefix);

  const read = (parts: RequestParts) => {
    const problems = new Problems();
    const message = create(input);
    const query = parseQuery(parts.query);
    for (const name of Object.keys(query).filter((one) => inappropriate.names.has(one))) {
      problems.add(`#/query/${name}`, 'unknown_field', inappropriate.detail);
      delete query[name];
    }
    assignPresent(message, readPath(parts.path, '#/path', problems), binding.path);
    const fromJson = takeJson(query, nested, problems);
    assignPresent(message, readQuery(query, '#/query', problems), binding.query);
    const written = nested.filter(({ jsonName }) => jsonName in fromJson);
    assignPresent(message, readNested(fromJson, '#/query', problems), written);
    if (readBody) {
      const { json, violations } = parts.body ?? { json: {}, violations: [] };
      problems.addAll(violations);
      const wrapped = bodyField ? { [bodyField.jsonName]: json } : json;
      const found = new Problems();
      const body = readBody(wrapped, '#', found);
      problems.addAll(
        found.violations.map((violation) => ({ ...violation, pointer: inBody(violation.pointer, bodyPrefix) })),
      );
      if (body) Object.assign(message, without(body, elsewhere, input));
    }
    addRuleViolations(problems, validate(message), toPointer);
    if (problems.violations.length > 0) throw invalidInput(problems.violations);
    return message;
  };
  return { hasBody: binding.body !== undefined, read, toPointer };
}

/** Takes the parameters from a query that are written as JSON, and parses them. */
function takeJson(
  query: Record<string, unknown>,
  fields: readonly DescField[],
  problems: Problems,
): Record<string, unknown> {
  const parsed: Record<string, unknown> = {};
  for (const { jsonName } of fields) {
    const text = query[jsonName];
    if (typeof text !== 'string') continue;
    delete query[jsonName];
    const { json, violations } = parseParameter(text);
    problems.addAll(violations.map((one) => ({ ...one, pointer: `#/query/${jsonName}${one.pointer.slice(1)}` })));
    if (violations.length === 0) parsed[jsonName] = json;
  }
  return parsed;
}

function parseParameter(text: string): ParsedJson {
  try {
    return parseJson(Buffer.from(text));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const isMalformed = error.reason === 'malformed_json';
    const detail = 'is neither JSON nor written by names in brackets';
    return { json: undefined, violations: error.violations.map((one) => (isMalformed ? { ...one, detail } : one)) };
  }
}

function assignPresent(target: Message, source: Message | undefined, fields: readonly DescField[]): void {
  if (!source) return;
  for (const { localName } of fields) {
    const value = (source as unknown as Record<string, unknown>)[localName];
    if (value !== undefined) Object.assign(target, { [localName]: value });
  }
}

function without(body: Message, names: ReadonlySet<string>, message: DescMessage): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...body };
  for (const field of message.fields) if (names.has(field.name)) delete copy[field.localName];
  return copy;
}

/** Translates a pointer into the field that the body holds to a pointer into the body. */
function inBody(pointer: string, prefix: string | undefined): string {
  const isInside = prefix !== undefined && (pointer === prefix || pointer.startsWith(`${prefix}/`));
  return isInside ? `#${pointer.slice(prefix.length)}` : pointer;
}

/** Makes the translation of pointers into the message to pointers into the request. */
function pointers(binding: Binding, bodyPrefix: string | undefined): (pointer: string) => string {
  const partOfField = new Map<string, 'path' | 'query'>();
  for (const field of binding.path) partOfField.set(field.jsonName, 'path');
  for (const field of binding.query) partOfField.set(field.jsonName, 'query');
  return (pointer) => {
    const part = partOfField.get(pointer.split('/')[1] ?? '');
    return part === undefined ? inBody(pointer, bodyPrefix) : `#/${part}${pointer.slice(1)}`;
  };
}

/** Adds the violations of rules, except for values that could not be decoded. */
function addRuleViolations(
  problems: Problems,
  found: readonly Violation[],
  toPointer: (pointer: string) => string,
): void {
  const undecoded = problems.violations.map((violation) => violation.pointer);
  for (const { pointer, code, detail } of found) {
    const at = toPointer(pointer);
    const outsideBody = /^#\/(?:path|query)\//.test(at);
    const isUndecoded = (known: string) =>
      known === at || known.startsWith(`${at}/`) || (at.startsWith(`${known}/`) && !(known === '#' && outsideBody));
    if (!undecoded.some(isUndecoded)) problems.add(at, code, detail);
  }
}
