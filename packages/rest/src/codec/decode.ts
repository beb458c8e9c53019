import {
  create,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import { isDateInRange, parseDateTime, toTimestamp } from './date-time.ts';
import { isPortableJson, portabilityViolations, portableValue } from './open-json.ts';
import { isMask, readFieldRules, readResource, readSpellings } from './options.ts';
import { escapePointer } from './scan-json.ts';

/** The violations that were found so far. At most `limit` are kept. */
export class Problems {
  readonly violations: Violation[] = [];
  readonly limit: number;

  constructor(limit = 100) {
    this.limit = limit;
  }

  add(pointer: string, code: string, detail: string): void {
    if (this.violations.length < this.limit) this.violations.push({ pointer, code, detail });
  }

  addAll(violations: readonly Violation[]): void {
    for (const { pointer, code, detail } of violations) this.add(pointer, code, detail);
  }
}

/** Decodes a JSON value for a field of a message. If it is invalid, adds a problem and returns undefined. */
type Decode = (value: unknown, pointer: string, problems: Problems) => unknown;

/** Decodes a JSON object into a message. A key that is not a field of the message is a problem. */
export type MessageDecoder = (value: unknown, pointer: string, problems: Problems) => Message | undefined;

/** Which part of a request a decoder is for. */
export interface DecoderOptions {
  /** Whether all values are texts, as in a path or query string; numbers and booleans are then read from text. */
  textual?: boolean;
  /** Fields that come from another part of the request and are unknown in this one, by their names in the contract. */
  without?: ReadonlySet<string>;
  /** Finds a message by its full name. Needed to distinguish a read-only field from an unknown one. */
  findMessage?: (typeName: string) => DescMessage | undefined;
}

const updateMask = 'google.protobuf.FieldMask';

/** The deepest nesting of a `google.protobuf.Value` that every RPC client can read. */
const maxValueDepth = 32;

/** The decoders of nested messages. An entry exists before its decoder does, so that a message may contain itself. */
type Compiled = Map<DescMessage, { decode?: MessageDecoder }>;

/**
 * Compiles the strict JSON decoder of a message.
 *
 * A message with an `update_mask` is the body of a PATCH: the mask is filled with the keys that are present, and null
 * unsets a field. In all other messages null means absent.
 * Errors: unknown_field, read_only_field, wrong_type, out_of_range, not_allowed, invalid_date, null_not_allowed,
 * invalid_text, too_deep; too_many_items before any item is read. An unsupported contract throws while compiling.
 * Source: docs/reference/api.md, Values; docs/reference/api.md, Presence and null.
 */
export function compileMessageDecoder(message: DescMessage, options: DecoderOptions = {}): MessageDecoder {
  return compileObject(message, options, new Map());
}

function compileObject(message: DescMessage, options: DecoderOptions, compiled: Compiled): MessageDecoder {
  const fields = new Map<string, { field: DescField; decode: Decode; nullable: boolean }>();
  const mask = message.fields.find(isMask);
  for (const field of message.fields) {
    if (field === mask || options.without?.has(field.name)) continue;
    fields.set(field.jsonName, {
      field,
      decode: compileField(field, options, compiled),
      nullable: readFieldRules(field).nullable,
    });
  }
  const readOnly = readOnlyKeys(message, fields, options);
  return (value, pointer, problems) => {
    if (!isObject(value)) return wrongType(pointer, 'an object', problems);
    const result = create(message) as Message & Record<string, unknown>;
    const present: string[] = [];
    for (const key of Object.keys(value)) {
      const at = `${pointer}/${escapePointer(key)}`;
      const known = fields.get(key);
      if (!known) {
        if (readOnly.has(key)) problems.add(at, 'read_only_field', 'cannot be written here');
        else problems.add(at, 'unknown_field', 'is not a field of this request');
        continue;
      }
      if (value[key] === null && !acceptsNull(known.field)) {
        if (mask && !known.nullable) problems.add(at, 'null_not_allowed', 'cannot be null');
      } else {
        const decoded = known.decode(value[key], at, problems);
        if (decoded !== undefined) result[known.field.localName] = decoded;
      }
      present.push(known.field.name);
    }
    if (mask) result[mask.localName] = { $typeName: updateMask, paths: present };
    return result;
  };
}

function readOnlyKeys(
  message: DescMessage,
  fields: ReadonlyMap<string, unknown>,
  options: DecoderOptions,
): ReadonlySet<string> {
  const resource = options.findMessage?.(readResource(message));
  return new Set(resource?.fields.map((field) => field.jsonName).filter((name) => !fields.has(name)));
}

function acceptsNull(field: DescField): boolean {
  return field.fieldKind === 'message' && field.message.typeName === ValueSchema.typeName;
}

function compileField(field: DescField, options: DecoderOptions, compiled: Compiled): Decode {
  if (field.oneof !== undefined) throw new Error(`${field.toString()}: a oneof has no JSON form`);
  switch (field.fieldKind) {
    case 'map':
      throw new Error(`${field.toString()}: a map has no JSON form`);
    case 'list':
      return compileList(field, options, compiled);
    case 'enum':
      return compileEnum(field);
    case 'message':
      return compileMessage(field.message, options, compiled);
    case 'scalar':
      return compileScalar(field.scalar, options.textual === true);
  }
}

function compileList(field: DescField & { fieldKind: 'list' }, options: DecoderOptions, compiled: Compiled): Decode {
  const maxItems = readFieldRules(field).maxItems ?? Number.POSITIVE_INFINITY;
  const item = compileItem(field, options, compiled);
  return (value, pointer, problems) => {
    const list = options.textual && !Array.isArray(value) ? [value] : value;
    if (!Array.isArray(list)) return wrongType(pointer, 'an array', problems);
    if (list.length > maxItems) {
      return refuse(pointer, 'too_many_items', `has ${list.length} items, at most ${maxItems} are accepted`, problems);
    }
    return list.map((entry, index) => item(entry, `${pointer}/${index}`, problems));
  };
}

function compileItem(field: DescField & { fieldKind: 'list' }, options: DecoderOptions, compiled: Compiled): Decode {
  switch (field.listKind) {
    case 'enum':
      return compileEnum(field);
    case 'message':
      return compileMessage(field.message, options, compiled);
    case 'scalar':
      return compileScalar(field.scalar, options.textual === true);
  }
}

function compileEnum(field: DescField): Decode {
  if (!field.enum) throw new Error(`${field.toString()} is not an enum`);
  const numbers = new Map([...readSpellings(field.enum)].map(([number, spelling]) => [spelling, number]));
  const allowed = [...numbers.keys()].join(', ');
  return (value, pointer, problems) => {
    if (typeof value !== 'string') return wrongType(pointer, 'a string', problems);
    return numbers.get(value) ?? refuse(pointer, 'not_allowed', `must be one of: ${allowed}`, problems);
  };
}

function compileMessage(message: DescMessage, options: DecoderOptions, compiled: Compiled): Decode {
  switch (message.typeName) {
    case 'google.protobuf.Timestamp':
      return options.textual ? (value, ...at) => decodeTimestamp(integerOfText(value), ...at) : decodeTimestamp;
    case 'google.protobuf.Struct':
      return decodeStruct;
    case 'google.protobuf.Value':
      return decodeValue;
    default:
      return compileNested(message, options, compiled);
  }
}

function compileNested(message: DescMessage, options: DecoderOptions, compiled: Compiled): Decode {
  const known = compiled.get(message);
  const entry = known ?? {};
  if (!known) {
    compiled.set(message, entry);
    entry.decode = compileObject(message, { ...options, without: new Set() }, compiled);
  }
  return (value, pointer, problems) => entry.decode?.(value, pointer, problems);
}

function decodeStruct(value: unknown, pointer: string, problems: Problems): unknown {
  if (!isObject(value)) return wrongType(pointer, 'an object', problems);
  if (isPortableJson(value)) return value as JsonObject;
  problems.addAll(portabilityViolations(value, pointer));
  return undefined;
}

function decodeValue(value: unknown, pointer: string, problems: Problems): unknown {
  if (isPortableJson(value, maxValueDepth)) return portableValue(value as JsonValue);
  problems.addAll(portabilityViolations(value, pointer, maxValueDepth));
  return undefined;
}

function decodeTimestamp(value: unknown, pointer: string, problems: Problems): unknown {
  if (typeof value !== 'number' && typeof value !== 'string') {
    return wrongType(pointer, 'a date or Unix seconds', problems);
  }
  const seconds = typeof value === 'number' ? value : parseDateTime(value)?.seconds;
  if (seconds === undefined || !isDateInRange(seconds)) {
    return refuse(pointer, 'invalid_date', 'is not a date, or one that does not exist', problems);
  }
  return toTimestamp(seconds);
}

function compileScalar(scalar: ScalarType, textual: boolean): Decode {
  switch (scalar) {
    case ScalarType.STRING:
      return decodeString;
    case ScalarType.BOOL:
      return (value, pointer, problems) => {
        const read = textual && typeof value === 'string' ? booleanOfText.get(value) : value;
        return typeof read === 'boolean' ? read : wrongType(pointer, 'true or false', problems);
      };
    case ScalarType.INT32:
      return compileInteger(-0x8000_0000, 0x7fff_ffff, textual, Number);
    case ScalarType.INT64:
      return compileInteger(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, textual, BigInt);
    case ScalarType.DOUBLE:
      return (value, pointer, problems) => {
        const read = textual ? numberOfText(value) : value;
        if (typeof read !== 'number') return wrongType(pointer, 'a number', problems);
        return Number.isFinite(read) ? read : refuse(pointer, 'out_of_range', 'is too large', problems);
      };
    default:
      throw new Error(`scalar type ${scalar} has no JSON form`);
  }
}

function decodeString(value: unknown, pointer: string, problems: Problems): unknown {
  if (typeof value !== 'string') return wrongType(pointer, 'a string', problems);
  return value.isWellFormed() ? value : refuse(pointer, 'invalid_text', 'has half of a surrogate pair', problems);
}

function compileInteger(min: number, max: number, textual: boolean, make: (value: number) => number | bigint): Decode {
  return (value, pointer, problems) => {
    const read = textual ? integerOfText(value) : value;
    if (typeof read !== 'number') return wrongType(pointer, 'an integer', problems);
    if (read < min || read > max) {
      return refuse(pointer, 'out_of_range', `must be between ${min} and ${max}`, problems);
    }
    // Adding 0 turns -0 into 0; a store would treat them as different numbers.
    return Number.isInteger(read) ? make(read + 0) : wrongType(pointer, 'an integer', problems);
  };
}

const booleanOfText = new Map([
  ['true', true],
  ['false', false],
]);

function integerOfText(value: unknown): unknown {
  return typeof value === 'string' && /^(?:0|-?[1-9]\d*)$/.test(value) ? Number(value) : value;
}

function numberOfText(value: unknown): unknown {
  return typeof value === 'string' && /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/.test(value) ? Number(value) : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrongType(pointer: string, expected: string, problems: Problems): undefined {
  problems.add(pointer, 'wrong_type', `must be ${expected}`);
}

function refuse(pointer: string, code: string, detail: string, problems: Problems): undefined {
  problems.add(pointer, code, detail);
}
