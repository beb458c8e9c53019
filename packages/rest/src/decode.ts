import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Violation } from '@ticketing/errors/domain-error.ts';
import { isDateInRange, parseDateTime, timestampOf } from './date-time.ts';
import { isPortableJson, portabilityViolations } from './open-json.ts';
import { resourceOf, rulesOf, spellingsOf } from './options.ts';
import { escapePointer } from './scan-json.ts';

/** Where a value stands, and what has been found wrong so far. At most `limit` violations are kept. */
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

/** Reads a JSON value into what the message holds; answers undefined, and adds a problem, if it does not fit. */
type Decode = (value: unknown, pointer: string, problems: Problems) => unknown;

/** Reads a JSON object into a message. Keys that the message does not know are problems. */
export type MessageDecoder = (value: unknown, pointer: string, problems: Problems) => Message | undefined;

/** What a decoder is compiled for: text values as in a query string, and the fields that stand elsewhere. */
export interface DecoderOptions {
  /** Numbers and booleans are read from text. */
  textual?: boolean;
  /** Fields that are read from the path or the query and are therefore unknown here, by name in the contract. */
  without?: ReadonlySet<string>;
  /** The full name of a message, to tell a read-only field from an unknown one. */
  findMessage?: (typeName: string) => DescMessage | undefined;
}

const updateMask = 'google.protobuf.FieldMask';

/** The deepest nesting of a `google.protobuf.Value`: what every RPC client can still read. */
const maxValueDepth = 32;

/** The decoders of the messages inside the one that is compiled, so that a message may contain itself. */
type Compiled = Map<DescMessage, { decode?: MessageDecoder }>;

/**
 * Compiles the strict JSON reader of a message.
 *
 * A message with an `update_mask` is the body of a PATCH: the mask is filled from the keys that are present, and null
 * unsets a field. Elsewhere null means absent.
 * Errors: unknown_field, read_only_field, wrong_type, out_of_range, not_allowed, invalid_date, null_not_allowed,
 * invalid_text, too_deep; too_many_items before any item is read. An unsupported contract throws while compiling.
 * Source: decisions.md section 1.
 */
export function compileMessageDecoder(message: DescMessage, options: DecoderOptions = {}): MessageDecoder {
  return compileObject(message, options, new Map());
}

function compileObject(message: DescMessage, options: DecoderOptions, compiled: Compiled): MessageDecoder {
  const fields = new Map<string, { field: DescField; decode: Decode; nullable: boolean }>();
  const mask = message.fields.find((field) => field.message?.typeName === updateMask);
  for (const field of message.fields) {
    if (field === mask || options.without?.has(field.name)) continue;
    fields.set(field.jsonName, {
      field,
      decode: compileField(field, options, compiled),
      nullable: rulesOf(field).nullable,
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
        if (readOnly.has(key)) problems.add(at, 'read_only_field', 'can not be written here');
        else problems.add(at, 'unknown_field', 'is not a field of this request');
        continue;
      }
      if (value[key] === null && !acceptsNull(known.field)) {
        if (mask && !known.nullable) problems.add(at, 'null_not_allowed', 'can not be null');
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
  const resource = options.findMessage?.(resourceOf(message));
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
  const maxItems = rulesOf(field).maxItems ?? Number.POSITIVE_INFINITY;
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
  const numbers = new Map([...spellingsOf(field.enum)].map(([number, spelling]) => [spelling, number]));
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
  const place = known ?? {};
  if (!known) {
    compiled.set(message, place);
    place.decode = compileObject(message, { ...options, without: new Set() }, compiled);
  }
  return (value, pointer, problems) => place.decode?.(value, pointer, problems);
}

function decodeStruct(value: unknown, pointer: string, problems: Problems): unknown {
  if (!isObject(value)) return wrongType(pointer, 'an object', problems);
  if (isPortableJson(value)) return value as JsonObject;
  problems.addAll(portabilityViolations(value, pointer));
  return undefined;
}

function decodeValue(value: unknown, pointer: string, problems: Problems): unknown {
  if (isPortableJson(value, maxValueDepth)) return fromJson(ValueSchema, value as JsonValue);
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
  return timestampOf(seconds);
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
    // Adding 0 makes 0 of -0, which a store would keep as another number.
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
