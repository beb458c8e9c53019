import { create, fromBinary, fromJson, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  DescriptorProto_ExtensionRangeSchema,
  ListValueSchema,
  SourceCodeInfoSchema,
  StructSchema,
  ValueSchema,
} from '@bufbuild/protobuf/wkt';
import {
  CreateTicketRequestSchema,
  UpdateTicketRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limitWireStructure, maxWireParts } from './wire-structure-limit.ts';

const refusal = (reason: string) => expect.objectContaining({ code: 'invalid_argument', reason });

/** A list with empty values, each of which is one part of 2 bytes. */
const emptyValues = (count: number) => Buffer.alloc(2 * count, Buffer.from([0x0a, 0x00]));

// guarantee: A5
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

// guarantee: A4
test('counts the parts that the parser finds, whatever the wire type of a field says', () => {
  // As a field of another wire type, this list is one unknown part of an outer list.
  const inner = new BinaryWriter().tag(6, WireType.LengthDelimited).bytes(emptyValues(maxWireParts)).finish();
  const bytes = new BinaryWriter().tag(1, WireType.Varint).uint32(inner.length).raw(inner).finish();
  expect(fromBinary(ListValueSchema, bytes).values[0]?.kind.case).toBe('listValue');
  expect(() => limitWireStructure(bytes, ListValueSchema)).toThrowError(refusal('malformed_message'));
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
    ['a field with the number 0', [0x02, 0x00]],
    ['a text that is not UTF-8', [0x0a, 0x03, 0x1a, 0x01, 0xff]],
  ])('%s are refused', (_, bytes) => {
    expect(() => fromBinary(ListValueSchema, Uint8Array.from(bytes))).toThrow(
      /illegal tag|premature EOF|invalid varint|not valid for encoding utf-8/,
    );
    expect(() => limitWireStructure(Uint8Array.from(bytes), ListValueSchema)).toThrowError(
      refusal('malformed_message'),
    );
  });
});

describe('what is accepted can be parsed', () => {
  const valid = [
    toBinary(
      CreateTicketRequestSchema,
      create(CreateTicketRequestSchema, { subject: 'ü', tags: [1, 2, 300], rawData: { a: [1, null, { b: 'c' }] } }),
    ),
    toBinary(
      UpdateTicketRequestSchema,
      create(UpdateTicketRequestSchema, { ticketId: 5, updateMask: { paths: ['status'] } }),
    ),
  ];
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    // A valid message with some bytes replaced.
    fc
      .tuple(fc.constantFrom(...valid), fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 4 }))
      .map(([message, changes]) => {
        const changed = Uint8Array.from(message);
        for (const [at, byte] of changes) changed[at % changed.length] = byte;
        return changed;
      }),
  );

  test.each([CreateTicketRequestSchema, UpdateTicketRequestSchema, StructSchema, SourceCodeInfoSchema])(
    // guarantee: A4
    'as %s',
    (schema) => {
      fc.assert(
        fc.property(bytes, (message) => {
          try {
            limitWireStructure(message, schema);
          } catch {
            return;
          }
          fromBinary(schema, message);
        }),
        { numRuns: 3000 },
      );
    },
  );
});
