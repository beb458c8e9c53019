import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';

/** The most parts of a message: its fields, the elements of its lists, and those of the messages in it. */
export const maxWireParts = 250_000;
const maxDepth = 100;

/**
 * Refuses a serialised message with more parts than any request needs, before it is parsed: an empty
 * `google.protobuf.Value` takes 2 bytes, but as an object more than 100. As many parts as the limit take some 40 ms to parse.
 *
 * Errors: too_complex; malformed_message for bytes that are no message of this type.
 */
export function limitWireStructure(bytes: Uint8Array, message: DescMessage): void {
  try {
    const scan = { bytes, reader: new BinaryReader(bytes), parts: 0 };
    scanFields(scan, bytes.length, fieldsOf(message), maxDepth);
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError('invalid_argument', 'malformed_message', 'The message is malformed.', { cause: error });
  }
}

interface Scan {
  bytes: Uint8Array;
  reader: BinaryReader;
  parts: number;
}

function scanFields(scan: Scan, end: number, fields: Fields, depthLeft: number): void {
  const { reader } = scan;
  if (depthLeft === 0) throw tooComplex(`is nested deeper than ${maxDepth} levels`);
  while (reader.pos < end) {
    const tag = reader.uint32();
    addParts(scan, 1);
    const content = (tag & 7) === WireType.LengthDelimited ? fields.get(tag >>> 3) : undefined;
    if (content === undefined) {
      reader.skip(tag & 7, tag >>> 3);
      continue;
    }
    const contentEnd = reader.uint32() + reader.pos;
    if (contentEnd > end) throw new RangeError('a field is longer than its message');
    if (typeof content === 'function') scanFields(scan, contentEnd, content(), depthLeft - 1);
    else addParts(scan, elementsBetween(scan.bytes, reader.pos, contentEnd, content));
    reader.pos = contentEnd;
  }
  if (reader.pos > end) throw new RangeError('a field is longer than its message');
}

function addParts(scan: Scan, count: number): void {
  scan.parts += count;
  if (scan.parts > maxWireParts) throw tooComplex(`has more than ${maxWireParts} parts`);
}

function tooComplex(detail: string): DomainError {
  return invalidInput([{ pointer: '#', code: 'too_complex', detail }]);
}

/** How many elements a packed list has. An element of `bytesEach` 0 has any length, and ends with a byte below 128. */
function elementsBetween(bytes: Uint8Array, start: number, end: number, bytesEach: number): number {
  if (bytesEach > 0) return (end - start) / bytesEach;
  let count = 0;
  for (let position = start; position < end; position++) if ((bytes[position] ?? 0) < 0x80) count++;
  return count;
}

/**
 * The fields of a message whose content has parts, by number: for a message its fields, for a list that may be packed the
 * bytes of an element.
 */
type Fields = ReadonlyMap<number, (() => Fields) | number>;

const knownFields = new WeakMap<DescMessage, Fields>();

function fieldsOf(message: DescMessage): Fields {
  const known = knownFields.get(message);
  if (known) return known;
  const fields: Fields = new Map(message.fields.flatMap((field) => contentOf(field)));
  knownFields.set(message, fields);
  return fields;
}

function contentOf(field: DescField): [number, (() => Fields) | number][] {
  const { number } = field;
  if (field.fieldKind === 'map') {
    // An entry is a message; its value is field 2.
    const { message } = field;
    const entry: Fields = new Map(message ? [[2, () => fieldsOf(message)]] : []);
    return [[number, () => entry]];
  }
  if (field.message) {
    const { message } = field;
    return [[number, () => fieldsOf(message)]];
  }
  if (field.fieldKind !== 'list') return [];
  if (field.listKind === 'enum') return [[number, 0]];
  const { scalar } = field as { scalar: ScalarType };
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return [];
  return [[number, bytesOfScalar.get(scalar) ?? 0]];
}

const bytesOfScalar = new Map([
  [ScalarType.DOUBLE, 8],
  [ScalarType.FIXED64, 8],
  [ScalarType.SFIXED64, 8],
  [ScalarType.FLOAT, 4],
  [ScalarType.FIXED32, 4],
  [ScalarType.SFIXED32, 4],
]);
