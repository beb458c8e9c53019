import { type DescEnum, type DescField, type DescMessage, type JsonObject, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { formatDateTime, formatRfc3339 } from '../codec/date-time.ts';
import { isMask, isPatch, readFieldRules, readJsonForm, readSpellings } from '../codec/options.ts';
import { toItemKeywords, toKeywords } from '../codec/rules.ts';
import { findComments } from './comments.ts';

/** A JSON Schema in the dialect of OpenAPI 3.1. */
export type Schema = JsonObject;

/**
 * Writes the schemas of the JSON that the encoders write and the decoders read, and collects the named schemas.
 *
 * Shape: the schema of a message or enum is a reference to a component with its short name. A message that occurs in
 * responses and in requests has two components, the second with the suffix `Input`: the schema of a response lists
 * every key and allows further ones, the schema of a request allows no others. Therefore all responses must be
 * described before the first request.
 * Errors: an Error if two different parts of a contract have the same name.
 */
export class SchemaWriter {
  readonly #components = new Map<string, Schema>();
  readonly #owners = new Map<string, string>();

  /** The named schemas so far, by name. */
  get components(): Record<string, Schema> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Defines a named schema, unless it is defined already, and returns the reference to it. */
  define(name: string, owner: string, build: () => Schema): Schema {
    const known = this.#owners.get(name);
    if (known !== undefined && known !== owner) throw new Error(`${known} and ${owner} are both named ${name}`);
    if (known === undefined) {
      this.#owners.set(name, owner);
      this.#components.set(name, build());
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** Returns a message as `messageEncoder` writes it. */
  output(message: DescMessage): Schema {
    return this.define(shortName(message), message.typeName, () => this.#outputObject(message));
  }

  /** Returns the value of a field as `messageEncoder` writes it where the field is set. */
  outputValue(field: DescField): Schema {
    return field.fieldKind === 'list' ? { type: 'array', items: this.#outputItem(field) } : this.#outputItem(field);
  }

  /** Returns the part of a request message that is the body, as `compileMessageDecoder` reads it. */
  body(message: DescMessage, fields: readonly DescField[]): Schema {
    return this.define(shortName(message), `body ${message.typeName}`, () => this.#inputObject(message, fields));
  }

  /** Returns the value of a field as the decoder reads it. */
  inputValue(field: DescField): Schema {
    const item = this.#inputItem(field);
    const value = field.fieldKind === 'list' ? { type: 'array', ...toItemKeywords(field), items: item } : item;
    const text = readFieldRules(field).default;
    return text === '' ? value : { ...value, default: toJsonValue(field, text) };
  }

  #outputObject(message: DescMessage): Schema {
    const inlined = message.fields.filter((field) => readJsonForm(field).inline);
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const field of message.fields) {
      if (inlined.includes(field)) continue;
      const { omitWhenUnset, shownBy, mayBeOmitted } = readJsonForm(field);
      const value = this.outputValue(field);
      const nullable = field.presence === FeatureSet_FieldPresence.EXPLICIT && !omitWhenUnset;
      properties[field.jsonName] = annotated(field, nullable ? orNull(value) : value);
      if (!omitWhenUnset && !mayBeOmitted && shownBy === '') required.push(field.jsonName);
    }
    const object = objectSchema(properties, required);
    const parts = inlined.flatMap((field) => (field.message ? [this.output(field.message)] : []));
    return { ...describedBy(message), ...(parts.length > 0 ? { allOf: [...parts, object] } : object) };
  }

  #outputItem(field: DescField): Schema {
    rejectWithoutJsonForm(field);
    if (field.enum) return this.#enum(field.enum);
    if (!field.message) return scalarSchema(field);
    switch (field.message.typeName) {
      case 'google.protobuf.Timestamp':
        return readJsonForm(field).rfc3339 ? rfc3339 : dateTime;
      case 'google.protobuf.Struct':
        return anyObject;
      case 'google.protobuf.Value':
        return {};
    }
    if (!readJsonForm(field).unwrap) return this.output(field.message);
    const [only] = field.message.fields;
    if (!only) throw new Error(`${field.toString()}: only one field can be unwrapped`);
    const value = this.outputValue(only);
    return only.presence === FeatureSet_FieldPresence.EXPLICIT ? orNull(value) : value;
  }

  #inputObject(message: DescMessage, fields: readonly DescField[]): Schema {
    const properties: Record<string, Schema> = {};
    const shown = fields.filter(isShown);
    for (const field of shown) {
      const value = this.inputValue(field);
      const nullable = isPatch(message) ? readFieldRules(field).nullable : !isRequired(field);
      properties[field.jsonName] = annotated(field, nullable ? orNull(value) : value, listLimits(field));
    }
    const required = shown.filter(isRequired).map((field) => field.jsonName);
    return { ...describedBy(message), ...objectSchema(properties, required), additionalProperties: false };
  }

  #inputItem(field: DescField): Schema {
    rejectWithoutJsonForm(field);
    if (field.enum && readFieldRules(field).in.length > 0) return { type: 'string', enum: readFieldRules(field).in };
    if (field.enum) return this.#enum(field.enum);
    if (!field.message) return { ...scalarSchema(field), ...toKeywords(field) };
    const { message } = field;
    switch (message.typeName) {
      case 'google.protobuf.Timestamp':
        return this.define('DateTimeInput', message.typeName, () => dateTimeInput);
      case 'google.protobuf.Struct':
        return anyObject;
      case 'google.protobuf.Value':
        return {};
    }
    const isInResponses = this.#owners.get(shortName(message)) === message.typeName;
    const name = isInResponses ? `${shortName(message)}Input` : shortName(message);
    return this.define(name, `input ${message.typeName}`, () => this.#inputObject(message, message.fields));
  }

  #enum(desc: DescEnum): Schema {
    const spellings = readSpellings(desc);
    const values = desc.values.flatMap((value) => {
      const spelling = spellings.get(value.number);
      const { text } = findComments(value);
      return spelling === undefined ? [] : [`- \`${spelling}\`${value.deprecated ? ' (deprecated)' : ''}: ${text}`];
    });
    return this.define(shortName(desc), desc.typeName, () => ({
      description: [findComments(desc).text, values.join('\n')].filter(Boolean).join('\n\n'),
      ...(desc.deprecated ? { deprecated: true } : {}),
      type: 'string',
      enum: [...spellings.values()],
    }));
  }
}

/** Whether a request may contain the field in its JSON. The decoder fills masks itself. */
export function isShown(field: DescField): boolean {
  return !isMask(field);
}

/** Whether a request without the field is refused. */
export function isRequired(field: DescField): boolean {
  const { required, minItems = 0 } = readFieldRules(field);
  return required || minItems > 0;
}

/** Returns the description of a field, with the limits that JSON Schema has no keyword for. */
export function renderDescription(field: DescField, limits: readonly string[] = []): { description?: string } {
  const description = [findComments(field).text, ...limits].filter(Boolean).join(' ');
  return description === '' ? {} : { description };
}

/** Returns sentences for the limits of a request's field that JSON Schema has no keyword for. */
export function listLimits(field: DescField): string[] {
  const { maxBytes, maxDepth } = readFieldRules(field);
  const sentences: string[] = [];
  if (maxBytes !== undefined)
    sentences.push(`At most ${sizeText(maxBytes)}${field.message ? ' of JSON' : ' in UTF-8'}.`);
  if (maxDepth !== undefined) sentences.push(`At most ${maxDepth} levels deep.`);
  return sentences;
}

function sizeText(bytes: number): string {
  if (bytes % 1_048_576 === 0) return `${bytes / 1_048_576} MiB`;
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`;
}

function rejectWithoutJsonForm(field: DescField): void {
  if (field.fieldKind === 'map' || field.oneof) throw new Error(`${field.toString()} has no JSON form`);
}

function shortName(desc: DescMessage | DescEnum): string {
  return desc.parent ? `${shortName(desc.parent)}${desc.name}` : desc.name;
}

function describedBy(message: DescMessage): Schema {
  const { text } = findComments(message);
  return { ...(text === '' ? {} : { description: text }), ...(message.deprecated ? { deprecated: true } : {}) };
}

function annotated(field: DescField, schema: Schema, limits: readonly string[] = []): Schema {
  return { ...schema, ...renderDescription(field, limits), ...(field.deprecated ? { deprecated: true } : {}) };
}

function objectSchema(properties: Record<string, Schema>, required: string[]): Schema {
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/** Returns the same schema, null included. */
function orNull(schema: Schema): Schema {
  const { type, enum: values, $ref, ...rest } = schema;
  if ($ref !== undefined) return { anyOf: [{ $ref }, { type: 'null' }], ...rest };
  if (typeof type !== 'string') return schema;
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) };
}

function scalarSchema(field: DescField): Schema {
  switch (field.scalar) {
    case ScalarType.STRING:
      return { type: 'string' };
    case ScalarType.BOOL:
      return { type: 'boolean' };
    case ScalarType.INT32:
      return { type: 'integer', format: 'int32' };
    case ScalarType.INT64:
      return { type: 'integer', format: 'int64' };
    case ScalarType.DOUBLE:
      return { type: 'number', format: 'double' };
    default:
      throw new Error(`${field.toString()} has no JSON form`);
  }
}

function toJsonValue(field: DescField, text: string): string | number | boolean {
  if (field.scalar === ScalarType.BOOL) return text === 'true';
  return field.scalar === undefined || field.scalar === ScalarType.STRING ? text : Number(text);
}

const sampleSeconds = 1_769_850_600;
const anyObject: Schema = { type: 'object', additionalProperties: true };
const rfc3339: Schema = { type: 'string', format: 'date-time', examples: [formatRfc3339(sampleSeconds)] };
const dateTime: Schema = {
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$',
  examples: [formatDateTime(sampleSeconds)],
};
const dateTimeInput: Schema = {
  description: 'A date, in UTC unless it has an offset; a day without a time means 00:00:00.',
  oneOf: [
    {
      type: 'string',
      description: '`YYYY-MM-DD HH:MM:SS`, `YYYY-MM-DD` or RFC 3339.',
      examples: [formatDateTime(sampleSeconds), formatRfc3339(sampleSeconds)],
    },
    { type: 'integer', format: 'int64', description: 'Unix seconds.' },
  ],
};
