import type { Features } from './features.ts';

const bytesPerFeature = 5;

/** Turns features into bytes: all hashes as little endian, then all counts. */
export function featuresToBytes({ hashes, counts }: Features): Uint8Array {
  const bytes = Buffer.alloc(hashes.length * bytesPerFeature);
  for (const [index, hash] of hashes.entries()) bytes.writeUInt32LE(hash, 4 * index);
  bytes.set(counts, 4 * hashes.length);
  return bytes;
}

/** Parses the bytes of `featuresToBytes`. */
export function featuresFromBytes(data: Uint8Array): Features {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const length = data.length / bytesPerFeature;
  const hashes = Uint32Array.from({ length }, (_, index) => bytes.readUInt32LE(4 * index));
  return { hashes, counts: Uint8Array.from(bytes.subarray(4 * length)) };
}
