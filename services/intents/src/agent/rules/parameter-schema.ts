import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import { escapePointer } from '@ticketing/rest/codec/scan-json.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** The deepest nesting of schemas, including the outermost one. */
export const maxSchemas = 500;

const dialect = 'https://json-schema.org/draft/2020-12/schema';

/**
 * The accepted keywords of JSON Schema, with the kind of their value: a schema, schemas by name, a list of schemas, or
 * no schema. Regular expressions and references are not accepted: the former can take any time, the latter lead
 * anywhere.
 */
const keywords: Readonly<Record<string, 'schema' | 'schemas' | 'list' | 'value'>> = {
  ...named('value', '$schema $comment title description default examples deprecated readOnly writeOnly'),
  ...named('value', 'type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength'),
  ...named('value', 'format contentEncoding contentMediaType maxItems minItems uniqueItems maxContains minContains'),
  ...named('value', 'maxProperties minProperties required dependentRequired'),
  ...named('schemas', 'properties dependentSchemas'),
  ...named('list', 'prefixItems allOf anyOf oneOf'),
  ...named('schema', 'items contains additionalProperties propertyNames not if then else'),
};

function named<Kind>(kind: Kind, names: string): Record<string, Kind> {
  return Object.fromEntries(names.split(' ').map((name) => [name, kind]));
}

// Only compares with the schema of schemas: no code is made from the schema of a request.
const ajv = new Ajv2020({ strict: false, validateFormats: false });

/**
 * Returns the violations in the JSON Schema of the data of intents: it must be one of the dialect 2020-12 for an object, of
 * accepted keywords, with at most 500 schemas in it.
 *
 * Errors, as violations: invalid_schema, too_complex. Source: docs/reference/api.md, AI agents.
 */
export function schemaViolations(schema: JsonObject, pointer: string): Violation[] {
  const { violations, count } = inspect(schema, pointer);
  if (violations.length > 0) return violations.slice(0, maxViolations);
  if (count > maxSchemas) {
    const detail = `has ${count} schemas in each other, at most ${maxSchemas} are accepted`;
    return [{ pointer, code: 'too_complex', detail }];
  }
  if (schema.$schema !== undefined && schema.$schema !== dialect) {
    return [invalid(`${pointer}/$schema`, `must be ${dialect}`)];
  }
  if (schema.type !== undefined && schema.type !== 'object') {
    return [invalid(`${pointer}/type`, 'must be "object", because the data of an intent is an object')];
  }
  if (ajv.validateSchema(schema) === true) return [];
  const [error] = ajv.errors ?? [];
  return [invalid(pointer + (error?.instancePath ?? ''), error?.message ?? 'is not a JSON Schema')];
}

const maxViolations = 100;

function invalid(pointer: string, detail: string): Violation {
  return { pointer, code: 'invalid_schema', detail };
}

/** Looks for keywords that are not accepted, and counts the schemas. */
function inspect(schema: JsonValue, pointer: string): { violations: Violation[]; count: number } {
  const violations: Violation[] = [];
  let count = 0;
  const visit = (value: JsonValue, at: string): void => {
    count += 1;
    if (!isObject(value)) return;
    for (const [name, part] of Object.entries(value)) {
      const below = `${at}/${escapePointer(name)}`;
      const kind = Object.hasOwn(keywords, name) ? keywords[name] : undefined;
      if (kind === undefined) violations.push(invalid(below, 'is not an accepted keyword'));
      else if (kind === 'schema') visit(part, below);
      else if (kind !== 'value')
        for (const [key, one] of childEntries(part)) visit(one, `${below}/${escapePointer(key)}`);
    }
  };
  visit(schema, pointer);
  return { violations, count };
}

/** Returns the members of an object or the items of a list. */
function childEntries(value: JsonValue): [string, JsonValue][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
