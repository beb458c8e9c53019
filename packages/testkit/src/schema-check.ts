import type { OpenApiDocument } from '@ticketing/rest/documents/openapi.ts';
import type { Schema } from '@ticketing/rest/documents/openapi-schema.ts';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { closedSchema, closedSchemas } from './closed-schema.ts';

/** Lists how a value differs from a schema of a document. The list is empty if the value fits. */
export type SchemaCheck = (schema: Schema, value: unknown) => string[];

const addFormats = formats as unknown as typeof formats.default;

/** Makes a check of values against schemas of a document. Objects may have only the keys that their schema lists. */
export function schemaChecker(document: OpenApiDocument): SchemaCheck {
  const ajv = addFormats(new Ajv2020({ strict: true, strictTypes: false, allErrors: true, verbose: true }));
  ajv.addKeyword('components');
  const schemas = closedSchemas(document.components.schemas);
  const compiled = new WeakMap<Schema, ValidateFunction>();
  const compile = (schema: Schema) => {
    const known = compiled.get(schema);
    if (known) return known;
    // References of the schema are resolved in the closed copies of the named schemas.
    const validate = ajv.compile({ ...closedSchema(schema), components: { schemas } });
    compiled.set(schema, validate);
    return validate;
  };
  return (schema, value) => {
    const validate = compile(schema);
    return validate(value) ? [] : (validate.errors ?? []).map(toText);
  };
}

function toText({ instancePath, message = '', params, data }: ErrorObject): string {
  const at = instancePath === '' ? 'the value' : `#${instancePath}`;
  const key = params.unevaluatedProperty ?? params.additionalProperty;
  if (key !== undefined) return `${at} has the key ${key}, which is not listed`;
  const json = JSON.stringify(data) ?? 'nothing';
  return `${at} ${message}, but is ${json.length > 200 ? `${json.slice(0, 200)}…` : json}`;
}
