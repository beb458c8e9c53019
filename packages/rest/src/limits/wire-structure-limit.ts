import { isUtf8 } from 'node:buffer';
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';

/** The most parts of a message: its fields, the elements of its lists, and those of the messages in it. */
export const maxWireParts = 125_000;
const maxDepth = 100;

/**
 * Refuses a serialised message with more parts than any request needs, before it is parsed: an empty
 * `google.protobuf.Value` takes 2 bytes, but as an object more than 100. As many parts as the limit take some 40 ms to parse.
 *
 * The parser can read every message that passes, and would respond to any other with an internal error. The check is
 * stricter in one point: a known field of another wire type is refused. The parser reads such a field as if it had the
 * right one, so that it would find other parts than those that were counted.
 *
 * Errors: too_complex; malformed_message for bytes that are no message of this type.
 */
export function limitWireStructure(bytes: Uint8Array, message: DescMessage): void {
  try {
    const scan = { bytes, reader: new BinaryReader(bytes), parts: 0 };
    scanFields(scan, bytes.length, findFields(message), maxDepth);
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
    const [number, wireType] = reader.tag();
    addParts(scan, 1);
    const content = fields.get(number);
    if (content === undefined) reader.skip(wireType, number, depthLeft - 1);
    else scanContent(scan, end, content, wireType, depthLeft);
  }
  if (reader.pos > end) throw new RangeError('a field is longer than its message');
}

function scanContent(scan: Scan, end: number, content: Content, wireType: WireType, depthLeft: number): void {
  const { reader } = scan;
  if (typeof content === 'object' && wireType === content.wireType) {
    skipScalar(reader, wireType);
    return;
  }
  if (wireType !== WireType.LengthDelimited) throw new TypeError('a field has another wire type');
  const contentEnd = reader.uint32() + reader.pos;
  if (contentEnd > end) throw new RangeError('a field is longer than its message');
  if (typeof content === 'function') scanFields(scan, contentEnd, content(), depthLeft - 1);
  else if (content === 'text') requireUtf8(scan.bytes.subarray(reader.pos, contentEnd));
  else if (content !== 'bytes') addParts(scan, elementsBetween(scan.bytes, reader.pos, contentEnd, content));
  reader.pos = contentEnd;
}

function skipScalar(reader: BinaryReader, wireType: WireType): void {
  // Unlike `skip`, this refuses a number of more than ten bytes, as the parser does.
  if (wireType === WireType.Varint) reader.uint32();
  else reader.skip(wireType);
}

function requireUtf8(text: Uint8Array): void {
  if (!isUtf8(text)) throw new TypeError('a text is not UTF-8');
}

function addParts(scan: Scan, count: number): void {
  scan.parts += count;
  if (scan.parts > maxWireParts) throw tooComplex(`has more than ${maxWireParts} parts`);
}

function tooComplex(detail: string): DomainError {
  return invalidInput([{ pointer: '#', code: 'too_complex', detail }]);
}

/** Returns how many elements a packed list has. A varint ends with a byte below 128. */
function elementsBetween(
  bytes: Uint8Array,
  start: number,
  end: number,
  { wireType, isPackable }: ScalarContent,
): number {
  if (!isPackable) throw new TypeError('a field has another wire type');
  if (wireType !== WireType.Varint) {
    const count = (end - start) / (wireType === WireType.Bit64 ? 8 : 4);
    if (!Number.isInteger(count)) throw new RangeError('a list ends within an element');
    return count;
  }
  let count = 0;
  let elementStart = start;
  for (let position = start; position < end; position++) {
    if ((bytes[position] ?? 0) >= 0x80) continue;
    if (position - elementStart >= maxVarintBytes) throw new RangeError('a number is too long');
    elementStart = position + 1;
    count++;
  }
  if (elementStart < end) throw new RangeError('a list ends within an element');
  return count;
}

const maxVarintBytes = 10;

/** The content of a known field: a message, of which these are the fields; a text; bytes; a number. */
type Content = (() => Fields) | 'text' | 'bytes' | ScalarContent;

interface ScalarContent {
  wireType: WireType;
  /** Whether the field is a list, whose elements may be together in one part. */
  isPackable: boolean;
}

/** The known fields of a message, by number. */
type Fields = ReadonlyMap<number, Content>;

const knownFields = new WeakMap<DescMessage, Fields>();

function findFields(message: DescMessage): Fields {
  const known = knownFields.get(message);
  if (known) return known;
  const fields: Fields = new Map(message.fields.map((field) => [field.number, toContent(field)]));
  knownFields.set(message, fields);
  return fields;
}

function toContent(field: DescField): Content {
  if (field.fieldKind === 'map') {
    // An entry is a message: its key is field 1, its value field 2.
    const value = field.message ? messageContent(field.message) : scalarContent(field.scalar, false);
    const entry: Fields = new Map([
      [1, scalarContent(field.mapKey, false)],
      [2, value],
    ]);
    return () => entry;
  }
  if (field.message) return messageContent(field.message);
  return scalarContent(field.scalar, field.fieldKind === 'list');
}

function messageContent(message: DescMessage): Content {
  return () => findFields(message);
}

/** Returns the content of a field with a scalar type. A field without a type is an enum. */
function scalarContent(type: ScalarType | undefined, isPackable: boolean): Content {
  if (type === ScalarType.STRING) return 'text';
  if (type === ScalarType.BYTES) return 'bytes';
  return { wireType: fixedTypes.get(type) ?? WireType.Varint, isPackable };
}

const fixedTypes = new Map<ScalarType | undefined, WireType>([
  [ScalarType.DOUBLE, WireType.Bit64],
  [ScalarType.FIXED64, WireType.Bit64],
  [ScalarType.SFIXED64, WireType.Bit64],
  [ScalarType.FLOAT, WireType.Bit32],
  [ScalarType.FIXED32, WireType.Bit32],
  [ScalarType.SFIXED32, WireType.Bit32],
]);
