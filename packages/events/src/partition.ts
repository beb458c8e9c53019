import { createHash } from 'node:crypto';

/** The partition of a key, the same in every process. */
export function partitionOf(key: string, partitions: number): number {
  return createHash('sha1').update(key).digest().readUInt32BE(0) % partitions;
}
