import { create, fromBinary, fromJson, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  DescriptorProto_ExtensionRangeSchema,
  ListValueSchema,
  SourceCodeInfoSchema,
  StructSchema,
  ValueSchema,
} from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { limitWireStructure, maxWireParts } from './wire-structure-limit.ts';

const refusal = (reason: string) => expect.objectContaining({ code: 'invalid_argument', reason });

/** A list with empty values, each of which is one part of 2 bytes. */
const emptyValues = (count: number) => Buffer.alloc(2 * count, Buffer.from([0x0a, 0x00]));

test('accepts as many empty values as the limit, and not one more', () => {
  expect(() => limitWireStructure(emptyValues(maxWireParts), ListValueSchema)).not.toThrow();
  expect(() => limitWireStructure(emptyValues(maxWireParts + 1), ListValueSchema)).toThrowError(refusal('too_complex'));
});

test('counts the entries of maps, with their keys and values', () => {
  // An entry, its key, its value, and the number in the value.
  const entries = (count: number) =>
    toBinary(
      StructSchema,
      fromJson(StructSchema, Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]))),
    );
  expect(() => limitWireStructure(entries(maxWireParts / 4), StructSchema)).not.toThrow();
  expect(() => limitWireStructure(entries(maxWireParts / 4 + 1), StructSchema)).toThrowError(refusal('too_complex'));
});

test('counts the elements of packed lists', () => {
  // `path` of a location is a packed list of int32.
  const location = (elements: number) => {
    const inner = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(new Uint8Array(elements)).finish();
    return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(inner).finish();
  };
  expect(() => limitWireStructure(location(maxWireParts - 2), SourceCodeInfoSchema)).not.toThrow();
  expect(() => limitWireStructure(location(maxWireParts - 1), SourceCodeInfoSchema)).toThrowError(
    refusal('too_complex'),
  );
});

test('does not count what strings and bytes contain', () => {
  const text = toBinary(ValueSchema, create(ValueSchema, { kind: { case: 'stringValue', value: '\n\0'.repeat(1e6) } }));
  expect(() => limitWireStructure(text, ValueSchema)).not.toThrow();
});

test('counts fields that the contract does not know', () => {
  const unknown = Buffer.alloc(2 * (maxWireParts + 1), Buffer.from([0x78, 0x00]));
  expect(() => limitWireStructure(unknown, DescriptorProto_ExtensionRangeSchema)).toThrowError(refusal('too_complex'));
});

test('accepts 100 levels, and not one more', () => {
  const nested = (levels: number) => {
    let bytes: Uint8Array = new Uint8Array();
    for (let level = 1; level < levels; level++) {
      // A value holds a list, which holds values.
      bytes = new BinaryWriter()
        .tag(level % 2 === 1 ? 1 : 6, WireType.LengthDelimited)
        .bytes(bytes)
        .finish();
    }
    return bytes;
  };
  expect(() => limitWireStructure(nested(99), ValueSchema)).not.toThrow();
  expect(() => limitWireStructure(nested(103), ValueSchema)).toThrowError(refusal('too_complex'));
});

describe('malformed bytes', () => {
  test.each([
    ['a field that is longer than the message', [0x0a, 0x05, 0x01]],
    ['a length without an end', [0x0a, 0xff, 0xff]],
    ['an unknown wire type', [0x0f]],
    ['a number that ends too early', [0x78]],
  ])('%s are refused', (_, bytes) => {
    expect(() => fromBinary(ListValueSchema, Uint8Array.from(bytes))).toThrow();
    expect(() => limitWireStructure(Uint8Array.from(bytes), ListValueSchema)).toThrowError(
      refusal('malformed_message'),
    );
  });
});
