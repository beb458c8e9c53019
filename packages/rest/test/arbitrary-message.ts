import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { readFieldRules, readSpellings } from '../src/codec/options.ts';
import { anyCharacter } from './arbitrary-text.ts';

/** Any message of a type. A field that may be unset is sometimes unset; every other field has a value. */
export function arbitraryMessage(message: DescMessage, levels = 3): fc.Arbitrary<Message> {
  const fields: Record<string, fc.Arbitrary<unknown>> = {};
  const required: string[] = [];
  for (const field of message.fields) {
    fields[field.localName] = arbitraryField(field, levels);
    if (field.fieldKind === 'list' || isImplicit(field)) required.push(field.localName);
  }
  return fc
    .record(fields, { requiredKeys: required })
    .map((values) => Object.assign(create(message), values) as unknown as Message);
}

function isImplicit(field: DescField): boolean {
  return (field.fieldKind === 'scalar' || field.fieldKind === 'enum') && !field.proto.proto3Optional;
}

function arbitraryField(field: DescField, levels: number): fc.Arbitrary<unknown> {
  if (field.fieldKind !== 'list') return arbitraryValue(field, levels);
  const maxLength = Math.min(readFieldRules(field).maxItems ?? 3, 3);
  return fc.array(arbitraryValue(field, levels), { maxLength: levels > 0 ? maxLength : 0 });
}

function arbitraryValue(field: DescField, levels: number): fc.Arbitrary<unknown> {
  if (field.enum) return fc.constantFrom(...readSpellings(field.enum).keys());
  if (field.message) return arbitraryInner(field.message, levels);
  switch (field.scalar) {
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.INT32:
      return fc.integer();
    case ScalarType.INT64:
      return fc.maxSafeInteger().map(BigInt);
    case ScalarType.DOUBLE:
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0);
    case ScalarType.STRING:
      return fc.string({ unit: anyCharacter });
    default:
      throw new Error(`${field.toString()}: no arbitrary value`);
  }
}

function arbitraryInner(message: DescMessage, levels: number): fc.Arbitrary<unknown> {
  switch (message.typeName) {
    case 'google.protobuf.Timestamp':
      return arbitrarySeconds.map((seconds) => ({ $typeName: message.typeName, seconds: BigInt(seconds), nanos: 0 }));
    case 'google.protobuf.Struct':
      return fc.dictionary(arbitraryKey, arbitraryJson, { maxKeys: 4 });
    case 'google.protobuf.Value':
      return arbitraryJson.map((json) => fromJson(ValueSchema, json));
    default:
      return arbitraryMessage(message, levels - 1);
  }
}

/** Any second that a date can express. */
export const arbitrarySeconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });

const arbitraryKey = fc.string({ unit: anyCharacter, maxLength: 8 }).filter((key) => key !== '__proto__');

/** Any JSON value without -0, which does not survive a transport. */
export const arbitraryJson: fc.Arbitrary<JsonValue> = fc
  .jsonValue({ maxDepth: 3, stringUnit: anyCharacter })
  .map((json) => JSON.parse(JSON.stringify(json)) as JsonValue)
  .filter((json) => !JSON.stringify(json).includes('__proto__'));
