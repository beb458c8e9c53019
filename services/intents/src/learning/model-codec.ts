import { createHash } from 'node:crypto';
import { toBuffer } from '@ticketing/runtime/to-buffer.ts';
import type { Model } from './model.ts';

/** The version of the format, and of how texts become features. Raise it when one of them changes. */
export const modelVersion = 1;

/** Bytes that are no model of this version: a new one has to be learned. */
export class ModelFormatError extends Error {
  override name = 'ModelFormatError';
}

const magic = 'TKMODEL\n';
const digestLength = 32;
/** Magic, version, digest, length of the header. */
const headLength = magic.length + 4 + digestLength + 4;
/** A hash and its weight in texts. */
const featureLength = 8;

/** The parts of a model that are not long lists of numbers. */
type Header = Pick<Model, 'columns' | 'tagThreshold' | 'tickets' | 'measuredTickets'> & { features: number };

/**
 * Turns a model into bytes: magic, version and a digest of the rest; a header in JSON with its length; hashes, their
 * weights in texts, the weights of labels.
 *
 * Units: numbers are little endian.
 */
export function serialiseModel({ vocabulary, weights, ...rest }: Model): Uint8Array {
  const { hashes, idf } = vocabulary;
  const fields: Header = { ...rest, features: hashes.length };
  const header = Buffer.from(JSON.stringify(fields));
  const bytes = Buffer.alloc(headLength + header.length + hashes.length * featureLength + weights.length);
  bytes.write(magic, 'latin1');
  bytes.writeUInt32LE(modelVersion, magic.length);
  bytes.writeUInt32LE(header.length, headLength - 4);
  let at = headLength + header.copy(bytes, headLength);
  for (const hash of hashes) at = bytes.writeUInt32LE(hash, at);
  for (const weight of idf) at = bytes.writeFloatLE(weight, at);
  bytes.set(new Uint8Array(weights.buffer, weights.byteOffset, weights.length), at);
  computeDigest(bytes).copy(bytes, headLength - 4 - digestLength);
  return bytes;
}

/**
 * Parses the bytes of `serialiseModel`.
 *
 * Errors: ModelFormatError, if the bytes are of another version, or damaged.
 */
export function parseModel(data: Uint8Array): Model {
  const bytes = toBuffer(data);
  if (bytes.length < headLength || bytes.toString('latin1', 0, magic.length) !== magic) {
    throw new ModelFormatError('These bytes are no model.');
  }
  const version = bytes.readUInt32LE(magic.length);
  if (version !== modelVersion) throw new ModelFormatError(`The model has version ${version}, not ${modelVersion}.`);
  if (!computeDigest(bytes).equals(bytes.subarray(headLength - 4 - digestLength, headLength - 4))) {
    throw new ModelFormatError('The model is damaged.');
  }
  const end = headLength + bytes.readUInt32LE(headLength - 4);
  // Its digest says that this program has written it.
  const { features, ...rest } = JSON.parse(bytes.toString('utf8', headLength, end)) as Header;
  const hashes = Uint32Array.from({ length: features }, (_, index) => bytes.readUInt32LE(end + 4 * index));
  const idf = Float32Array.from({ length: features }, (_, index) => bytes.readFloatLE(end + 4 * (features + index)));
  return {
    vocabulary: { hashes, idf },
    weights: Int8Array.from(bytes.subarray(end + features * featureLength)),
    ...rest,
  };
}

/** Returns the digest of the bytes that follow it. */
function computeDigest(bytes: Buffer): Buffer {
  return createHash('sha256')
    .update(bytes.subarray(headLength - 4))
    .digest();
}
