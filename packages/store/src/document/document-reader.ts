import { toBuffer } from '@ticketing/runtime/to-buffer.ts';
import { mongo } from 'mongoose';
import { compileObject } from './compile-object.ts';

/**
 * Compiles a function that reads only some fields of documents in BSON (https://bsonspec.org). A field that a document
 * does not have is undefined. The names must be ASCII.
 *
 * The driver makes a string of each name in each document, and adds the properties to an object one by one. On lists that
 * took twice the time, and made several times the garbage, of everything else (docs/decisions/0018).
 */
export function documentReader<Document>(names: readonly string[]): (bytes: Uint8Array) => Document {
  const known = new Map(names.map((name, index) => [hashName(name), { name, index }]));
  if (known.size < names.length) throw new Error('two names have the same hash');
  const makeDocument = compileObject<Document>(
    names.map((name, index) => [name, { input: 'first', name: String(index) }]),
  );
  return (bytes) => {
    const buffer = toBuffer(bytes);
    const values = new Array<unknown>(names.length).fill(undefined);
    for (let at = 4; buffer[at] !== 0; ) {
      const nameAt = at + 1;
      let hash = 0;
      let end = nameAt;
      for (let byte = buffer[end] ?? 0; byte !== 0; byte = buffer[end] ?? 0) {
        hash = (Math.imul(hash, 31) + byte) | 0;
        end += 1;
      }
      const field = known.get(hash);
      if (field && hasName(field.name, buffer, nameAt, end)) values[field.index] = readValue(buffer, at, end + 1);
      at = end + 1 + readSize(buffer, at, end + 1);
    }
    return makeDocument(values);
  };
}

const type = {
  double: 1,
  string: 2,
  object: 3,
  array: 4,
  binary: 5,
  objectId: 7,
  boolean: 8,
  date: 9,
  null: 10,
  int32: 16,
  timestamp: 17,
  int64: 18,
  decimal: 19,
};

/** The size of a document without fields. */
const emptySize = 5;

function hashName(name: string): number {
  return Buffer.from(name).reduce((hash, byte) => (Math.imul(hash, 31) + byte) | 0, 0);
}

function hasName(name: string, buffer: Buffer, start: number, end: number): boolean {
  if (name.length !== end - start) return false;
  for (let index = 0; index < name.length; index++) {
    if (name.charCodeAt(index) !== buffer[start + index]) return false;
  }
  return true;
}

/** Returns the size in bytes of the value at `at`, whose type is at `start`. */
function readSize(buffer: Buffer, start: number, at: number): number {
  switch (buffer[start]) {
    case type.null:
      return 0;
    case type.boolean:
      return 1;
    case type.int32:
      return 4;
    case type.double:
    case type.date:
    case type.int64:
    case type.timestamp:
      return 8;
    case type.objectId:
      return 12;
    case type.decimal:
      return 16;
    case type.string:
      return 4 + buffer.readInt32LE(at);
    case type.object:
    case type.array:
      return buffer.readInt32LE(at);
    case type.binary:
      return 5 + buffer.readInt32LE(at);
    default:
      throw new Error(`a document has a value of type ${buffer[start]}`);
  }
}

function readValue(buffer: Buffer, start: number, at: number): unknown {
  switch (buffer[start]) {
    case type.null:
      return null;
    case type.boolean:
      return buffer[at] === 1;
    case type.int32:
      return buffer.readInt32LE(at);
    case type.double:
      return buffer.readDoubleLE(at);
    case type.date:
      return new Date(readInt64(buffer, at));
    case type.string:
      return buffer.toString('utf8', at + 4, at + 3 + buffer.readInt32LE(at));
    case type.array:
      return readItems(buffer, at);
    default:
      return readByDriver(buffer, start, at);
  }
}

function readItems(buffer: Buffer, start: number): unknown[] {
  const items: unknown[] = [];
  for (let at = start + 4; buffer[at] !== 0; ) {
    const valueAt = buffer.indexOf(0, at + 1) + 1;
    items.push(readValue(buffer, at, valueAt));
    at = valueAt + readSize(buffer, at, valueAt);
  }
  return items;
}

/** Reads a value of any other type with the driver: as the only field of a document. */
function readByDriver(buffer: Buffer, start: number, at: number): unknown {
  const size = readSize(buffer, start, at);
  if (buffer[start] === type.object && size === emptySize) return {};
  const document = Buffer.alloc(4 + 2 + size + 1);
  document.writeInt32LE(document.length);
  document.writeUInt8(buffer[start] ?? 0, 4);
  buffer.copy(document, 6, at, at + size);
  return mongo.BSON.deserialize(document)[''];
}

/** Reads an integer, exactly for every time that a Date can hold. */
function readInt64(buffer: Buffer, at: number): number {
  return buffer.readInt32LE(at + 4) * 2 ** 32 + buffer.readUInt32LE(at);
}
