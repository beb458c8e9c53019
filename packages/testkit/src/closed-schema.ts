import type { Schema } from '@ticketing/rest/documents/openapi-schema.ts';

/**
 * Makes a stricter copy of the named schemas of an OpenAPI document, in which objects may have only the keys that their
 * schema lists. A schema with `additionalProperties` still allows more keys.
 */
export function closedSchemas(schemas: Record<string, Schema>): Record<string, Schema> {
  // A named schema is closed where it is referenced, because another schema may extend it by `allOf`.
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closeParts(schema)]));
}

/** Makes a stricter copy of one schema. */
export function closedSchema(schema: Schema): Schema {
  const closed = closeParts(schema);
  const describesObject = '$ref' in schema || 'properties' in schema || 'allOf' in schema;
  return describesObject ? { ...closed, unevaluatedProperties: false } : closed;
}

function closeParts(schema: Schema): Schema {
  const closed: Schema = { ...schema };
  for (const keyword of ['anyOf', 'oneOf']) {
    const alternatives = schema[keyword];
    if (Array.isArray(alternatives)) closed[keyword] = alternatives.map((part) => closedSchema(toSchema(part)));
  }
  if (Array.isArray(schema.allOf)) closed.allOf = schema.allOf.map((part) => closeParts(toSchema(part)));
  if (isSchema(schema.items)) closed.items = closedSchema(schema.items);
  if (isSchema(schema.properties)) {
    const properties = Object.entries(schema.properties);
    closed.properties = Object.fromEntries(properties.map(([name, part]) => [name, closedSchema(toSchema(part))]));
  }
  return closed;
}

function toSchema(part: unknown): Schema {
  if (!isSchema(part)) throw new Error(`${JSON.stringify(part)} is not a schema`);
  return part;
}

function isSchema(part: unknown): part is Schema {
  return typeof part === 'object' && part !== null && !Array.isArray(part);
}
