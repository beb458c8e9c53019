import { createHash } from 'node:crypto';

/** What a partition is called in what a process or a store keeps of it. */
export function partitionName(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}

/** The partition of a key, the same in every process. */
export function partitionOf(key: string, partitions: number): number {
  return createHash('sha1').update(key).digest().readUInt32BE(0) % partitions;
}
