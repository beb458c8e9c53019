import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonObject,
  type Message,
  ScalarType,
  toJson,
} from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence, type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import { Ajv2020, type ErrorObject, type SchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isDateInRange } from './date-time.ts';
import { hasHarmlessNames, inspectOpenJson, isPortableJson, isPortableValue } from './open-json.ts';
import { readFieldRules, readSpellings } from './options.ts';

/**
 * The texts that may become a header of a mail: a line break would begin another header, for some programs also one of
 * Unicode, and no control character of ASCII but the tab may be in one.
 */
const headerText = '^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F\\u0085\\u2028\\u2029]*$';

/** Checks a message against the rules of its contract. Returns all violations. */
export type MessageValidator = (message: Message) => Violation[];

const maxViolations = 100;
const addFormats = formats as unknown as typeof formats.default;
const ajv = addKeywords(new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true, verbose: true }));
const validators = new WeakMap<DescMessage, MessageValidator>();

/**
 * Compiles the rules of a message, once, to a JSON Schema of the message in memory. The REST API and the RPC API use
 * the same check.
 *
 * Shape: pointers name fields as in JSON, `#/filters/0/key`.
 * Errors: the codes of `codeOfKeyword`; required for an `update_mask` that is missing, and for the fields that it names:
 * unknown_field, null_not_allowed.
 */
export function messageValidator(message: DescMessage): MessageValidator {
  const known = validators.get(message);
  if (known) return known;
  const validate = ajv.compile(toSchema(message));
  const masked = maskChecks(message);
  const validator: MessageValidator = (value) => [
    ...schemaViolations(validate, value),
    ...masked.flatMap((check) => check(value as unknown as Record<string, unknown>, '#')).slice(0, maxViolations),
  ];
  validators.set(message, validator);
  return validator;
}

/**
 * Returns the JSON Schema keywords for the rules of a field, shared with the OpenAPI document. Lengths are in
 * characters.
 */
export function toKeywords(field: DescField): SchemaObject {
  const rules = readFieldRules(field);
  const keywords: SchemaObject = {};
  if (rules.minimum !== undefined) keywords.minimum = Number(rules.minimum);
  if (rules.maximum !== undefined) keywords.maximum = Number(rules.maximum);
  if (rules.minLength !== undefined) keywords.minLength = rules.minLength;
  if (rules.maxLength !== undefined) keywords.maxLength = rules.maxLength;
  if (rules.format) keywords.format = rules.format;
  if (rules.pattern) keywords.pattern = rules.pattern;
  if (rules.headerText) {
    if (rules.pattern) throw new Error(`${field.toString()} cannot have both pattern and header_text`);
    keywords.pattern = headerText;
  }
  if (rules.in.length > 0) keywords.enum = rules.in;
  return keywords;
}

/** Returns the JSON Schema keywords for the item counts of a repeated field. */
export function toItemKeywords(field: DescField): SchemaObject {
  const rules = readFieldRules(field);
  const keywords: SchemaObject = {};
  if (rules.minItems !== undefined) keywords.minItems = rules.minItems;
  if (rules.maxItems !== undefined) keywords.maxItems = rules.maxItems;
  if (rules.uniqueItems) keywords.uniqueItems = true;
  return keywords;
}

function toSchema(message: DescMessage): SchemaObject {
  const properties: Record<string, SchemaObject> = {};
  const required: string[] = [];
  for (const field of message.fields) {
    properties[field.localName] = fieldSchema(field);
    if (readFieldRules(field).required) required.push(field.localName);
  }
  return { type: 'object', properties, required };
}

function fieldSchema(field: DescField): SchemaObject {
  if (field.fieldKind !== 'list') return isZeroWhenAbsent(field) ? givenSchema(field) : valueSchema(field);
  // The items of a list that is too long are not checked: they could have millions of problems.
  const counts = toItemKeywords(field);
  const items: SchemaObject = { type: 'array', ...counts, items: valueSchema(field) };
  if (counts.maxItems === undefined) return items;
  const short = { type: 'array', maxItems: counts.maxItems };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { ...short, if: short, then: items };
}

/** Whether a required field is the zero of its type, instead of unset, when it is absent. */
function isZeroWhenAbsent(field: DescField): boolean {
  const isTextOrEnum = field.enum !== undefined || field.scalar === ScalarType.STRING;
  return isTextOrEnum && readFieldRules(field).required && field.presence === FeatureSet_FieldPresence.IMPLICIT;
}

function givenSchema(field: DescField): SchemaObject {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { notZero: true, if: { notZero: true }, then: valueSchema(field) };
}

function valueSchema(field: DescField): SchemaObject {
  const rules = readFieldRules(field);
  const extra: SchemaObject = {};
  if (rules.maxBytes !== undefined) extra.maxBytes = rules.maxBytes;
  if (rules.maxDepth !== undefined) extra.maxDepth = rules.maxDepth;
  if (field.enum) return { type: 'integer', enum: allowedNumbers(field, field.enum) };
  if (field.message) return { ...messageSchema(field.message), ...extra };
  const { maxLength, ...keywords } = toKeywords(field);
  if (maxLength !== undefined) return { type: 'string', ...withinLength(maxLength, keywords), ...extra };
  const type = findJsonType(keywords);
  return { ...(type ? { type } : {}), ...keywords, ...extra };
}

/** Returns the numbers of an enum that a field may have: all, or those that its rule names as they are spelt. */
function allowedNumbers(field: DescField, desc: DescEnum): number[] {
  const spellings = readSpellings(desc);
  const { in: allowed } = readFieldRules(field);
  const unknown = allowed.find((one) => ![...spellings.values()].includes(one));
  if (unknown !== undefined) throw new Error(`${field.toString()} has no value ${unknown}`);
  return [...spellings].filter(([, text]) => allowed.length === 0 || allowed.includes(text)).map(([number]) => number);
}

/** A text that is too long is not checked further: patterns take long for it, or fail. */
function withinLength(maxLength: number, keywords: SchemaObject): SchemaObject {
  if (Object.keys(keywords).length === 0) return { maxLength };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { maxLength, if: { maxLength }, then: { type: 'string', ...keywords } };
}

function findJsonType(keywords: SchemaObject): string | undefined {
  if ('minimum' in keywords || 'maximum' in keywords) return 'number';
  return Object.keys(keywords).length > 0 ? 'string' : undefined;
}

function messageSchema(message: DescMessage): SchemaObject {
  switch (message.typeName) {
    case 'google.protobuf.Timestamp':
      return { dateInRange: true };
    case 'google.protobuf.Struct':
      return { portableStruct: true, harmlessStruct: true };
    case 'google.protobuf.Value':
      return { portableValue: true, harmlessValue: true };
    default:
      return message.typeName.startsWith('google.protobuf.') ? {} : toSchema(message);
  }
}

function addKeywords(target: Ajv2020): Ajv2020 {
  addFormats(target, ['email', 'uri', 'uuid']);
  // Ajv's own `maxLength` counts the characters of the whole text, however long it is.
  target.removeKeyword('maxLength');
  target.addKeyword({
    keyword: 'maxLength',
    type: 'string',
    schemaType: 'number',
    validate: (max: number, value: string) => lengthIsWithin(value, max),
  });
  target.addKeyword({ keyword: 'maxBytes', validate: (max: number, value: unknown) => bytesAreWithin(value, max) });
  target.addKeyword({
    keyword: 'maxDepth',
    validate: (max: number, value: unknown) => inspectOpenJson(value).depth <= max,
  });
  target.addKeyword({
    keyword: 'dateInRange',
    validate: (_: boolean, value?: { seconds: bigint }) => value === undefined || isDateInRange(Number(value.seconds)),
  });
  target.addKeyword({ keyword: 'notZero', validate: (_: boolean, value: unknown) => value !== '' && value !== 0 });
  target.addKeyword({
    keyword: 'portableStruct',
    validate: (_: boolean, value?: JsonObject) => value === undefined || isPortableJson(value),
  });
  target.addKeyword({
    keyword: 'portableValue',
    validate: (_: boolean, value?: Value) => value === undefined || isPortableValue(value),
  });
  target.addKeyword({
    keyword: 'harmlessStruct',
    validate: (_: boolean, value?: JsonObject) => hasHarmlessNames(value),
  });
  target.addKeyword({
    keyword: 'harmlessValue',
    validate: (_: boolean, value?: Value) =>
      !(value && isPortableValue(value)) || hasHarmlessNames(toJson(ValueSchema, value)),
  });
  return target;
}

/** Whether a text has at most `max` characters (code points), which are one or two units each. */
function lengthIsWithin(text: string, max: number): boolean {
  if (text.length <= max) return true;
  if (text.length > 2 * max) return false;
  let length = 0;
  for (const _ of text) length += 1;
  return length <= max;
}

/** Whether a text, or a value as JSON, has at most `max` bytes. A value that is certainly longer is not written. */
function bytesAreWithin(value: unknown, max: number): boolean {
  if (typeof value === 'string') return value.length <= max && Buffer.byteLength(value) <= max;
  return inspectOpenJson(value).minBytes <= max && Buffer.byteLength(JSON.stringify(value ?? null)) <= max;
}

const codeOfKeyword: Record<string, string> = {
  required: 'required',
  notZero: 'required',
  minimum: 'out_of_range',
  maximum: 'out_of_range',
  minLength: 'too_short',
  maxLength: 'too_long',
  maxBytes: 'too_long',
  maxDepth: 'too_deep',
  minItems: 'too_few_items',
  maxItems: 'too_many_items',
  uniqueItems: 'duplicate_item',
  format: 'invalid_format',
  pattern: 'invalid_format',
  enum: 'not_allowed',
  dateInRange: 'invalid_date',
  portableStruct: 'invalid_value',
  portableValue: 'invalid_value',
  harmlessStruct: 'prototype_key',
  harmlessValue: 'prototype_key',
  type: 'wrong_type',
};

function schemaViolations(validate: ValidateFunction, message: Message): Violation[] {
  if (validate(message)) return [];
  const errors = validate.errors?.filter((error) => error.keyword in codeOfKeyword) ?? [];
  const violations = errors.slice(0, maxViolations).map(toViolation);
  // The `if` and the `then` of a list can both report its length.
  const seen = new Set<string>();
  return violations.filter(({ pointer, code }) => !seen.has(`${pointer} ${code}`) && seen.add(`${pointer} ${code}`));
}

function toViolation(error: ErrorObject): Violation {
  const missing = error.keyword === 'required' ? `/${String(error.params.missingProperty)}` : '';
  return {
    pointer: `#${error.instancePath}${missing}`,
    code: codeOfKeyword[error.keyword] ?? 'invalid_value',
    detail: describeError(error),
  };
}

function describeError(error: ErrorObject): string {
  switch (error.keyword) {
    case 'required':
    case 'notZero':
      return 'is required';
    case 'enum':
      return typeof error.params.allowedValues[0] === 'number'
        ? 'is not a value of this enum'
        : `must be one of: ${error.params.allowedValues.join(', ')}`;
    case 'maxLength':
      return `must NOT have more than ${error.schema} characters`;
    case 'maxBytes':
      return `is longer than ${error.schema} bytes`;
    case 'maxDepth':
      return 'is nested too deeply';
    case 'dateInRange':
      return 'is not a date between the years 1 and 9999';
    case 'pattern':
      return error.schema === headerText
        ? 'must not contain a line break or another control character'
        : (error.message ?? 'is not valid');
    case 'portableStruct':
    case 'portableValue':
      return 'is not a JSON value';
    case 'harmlessStruct':
    case 'harmlessValue':
      return 'has a name that is not accepted';
    default:
      return error.message ?? 'is not valid';
  }
}

type MaskCheck = (message: Record<string, unknown>, pointer: string) => Violation[];

/** Returns the checks of the update masks in a message and in the items of its lists. */
function maskChecks(message: DescMessage): MaskCheck[] {
  return message.fields.flatMap((field) => {
    if (field.message?.typeName === 'google.protobuf.FieldMask') return [checkMask(message, field)];
    if (field.fieldKind !== 'list' || !field.message || field.message === message) return [];
    const checks = maskChecks(field.message);
    return checks.length === 0 ? [] : [checkItems(field, checks)];
  });
}

function checkItems(list: DescField, checks: readonly MaskCheck[]): MaskCheck {
  const { maxItems } = readFieldRules(list);
  return (message, pointer) => {
    const items = (message[list.localName] ?? []) as (Record<string, unknown> | undefined)[];
    return items.slice(0, maxItems).flatMap((item, index) =>
      // An item that could not be decoded from JSON is undefined.
      item ? checks.flatMap((check) => check(item, `${pointer}/${list.jsonName}/${index}`)) : [],
    );
  };
}

function checkMask(message: DescMessage, mask: DescField): MaskCheck {
  const fields = new Map(message.fields.filter((field) => field !== mask).map((field) => [field.name, field]));
  return (value, pointer) => maskViolations(fields, mask, value, pointer);
}

function maskViolations(
  fields: ReadonlyMap<string, DescField>,
  mask: DescField,
  value: Record<string, unknown>,
  pointer: string,
): Violation[] {
  const paths = (value[mask.localName] as { paths: string[] } | undefined)?.paths;
  // Without it nothing would be changed, and the caller would not notice. The REST API fills it.
  if (!paths) return [{ pointer: `${pointer}/${mask.jsonName}`, code: 'required', detail: 'is required' }];
  const violations = new Map<string, Violation>();
  for (const path of paths) {
    const field = fields.get(path);
    if (!field) {
      const detail = `names the unknown field ${path}`;
      violations.set(path, { pointer: `${pointer}/updateMask`, code: 'unknown_field', detail });
    } else if (
      value[field.localName] === undefined &&
      !readFieldRules(field).nullable &&
      !readFieldRules(field).required
    ) {
      const at = `${pointer}/${field.jsonName}`;
      violations.set(path, { pointer: at, code: 'null_not_allowed', detail: 'cannot be null' });
    }
    if (violations.size >= maxViolations) break;
  }
  return [...violations.values()];
}
