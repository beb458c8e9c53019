import { createHash } from 'node:crypto';

/** Returns the name of a partition as a key in memory and in the store. */
export function partitionName(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}

/** Returns the partition of a key. Every process computes the same one. */
export function choosePartition(key: string, partitions: number): number {
  return createHash('sha1').update(key).digest().readUInt32BE(0) % partitions;
}
