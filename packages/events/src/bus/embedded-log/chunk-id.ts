import { partitionName } from '../partition.ts';

/** Chunks are numbered from 1. An id is padded with zeros, so that ids sort like their numbers. */
const digits = 12;
const maxSequence = 10 ** digits - 1;

/** Returns the id of a chunk: topic, partition, and its number there. */
export function chunkId(topic: string, partition: number, sequence: number): string {
  return `${partitionName(topic, partition)}/${String(sequence).padStart(digits, '0')}`;
}

/** Matches the ids of a partition's chunks from a number on. */
export function chunkIdsFrom(topic: string, partition: number, sequence: number): { $gte: string; $lte: string } {
  return { $gte: chunkId(topic, partition, sequence), $lte: chunkId(topic, partition, maxSequence) };
}

/** Reads the id of a chunk. */
export function parseChunkId(id: string): { partition: string; sequence: number } {
  const slash = id.lastIndexOf('/');
  return { partition: id.slice(0, slash), sequence: Number(id.slice(slash + 1)) };
}

/** Reads the name of a partition. */
export function parsePartitionName(name: string): { topic: string; partition: number } {
  const slash = name.lastIndexOf('/');
  return { topic: name.slice(0, slash), partition: Number(name.slice(slash + 1)) };
}
