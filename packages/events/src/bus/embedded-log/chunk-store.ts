import { keyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { isDuplicateKey } from '@ticketing/store/document/store-error.ts';
import { type Connection, mongo } from 'mongoose';
import { toBatches } from '../batches.ts';
import type { IncomingMessage, OutgoingMessage } from '../bus.ts';
import { partitionName } from '../partition.ts';
import { chunkId, chunkIdsFrom, parseChunkId, parsePartitionName } from './chunk-id.ts';

/**
 * Messages that were appended together. The id is the position in the partition, so that no two chunks have the same.
 */
interface ChunkDocument {
  _id: string;
  sequence: number;
  appendedAt: Date;
  messages: { key: string; value: mongo.Binary; headers: Record<string, string> }[];
}

/** The messages of a log, by topic and partition. An offset is the number of a chunk × 1,000 + the index in it. */
export interface ChunkStore {
  /** Appends messages to a partition, those of this process in the order of the calls. */
  append(topic: string, partition: number, messages: readonly OutgoingMessage[]): Promise<void>;
  /** Returns the messages from an offset on, of at most 20 chunks. */
  read(topic: string, partition: number, offset: number): Promise<IncomingMessage[]>;
  /** Returns the number of messages from an offset on. */
  count(topic: string, partition: number, offset: number): Promise<number>;
  /** Returns when the first message from an offset on was appended, in Unix ms; undefined if there is none. */
  appendedAt(topic: string, partition: number, offset: number): Promise<number | undefined>;
  /** Returns the number of the last chunk; 0 if there is none. */
  lastSequence(topic: string, partition: number): Promise<number>;
  /** Reads the last chunk of each partition after the given number, if there is one. Reads at most 1,000 chunks. */
  appendedAfter(sequences: ReadonlyMap<string, number>): Promise<Map<string, number>>;
  /** Removes chunks that were appended before a time, except the last: the next chunk gets its number from it. */
  removeOlder(topic: string, partition: number, than: Date): Promise<void>;
}

const messagesPerChunk = 1000;
const maxChunk = { bytes: 4 * 1024 * 1024, messages: messagesPerChunk };
const maxAttempts = 100;
const chunksAtATime = 20;
const maxIdsRead = 1000;
/** How long a process relies on the number of the last chunk that it appended. Much shorter than any retention. */
const rememberedMs = 5_000;

/**
 * Opens the messages of a log; `onAppended` is called with the partition of each chunk that this process has appended.
 * An append is one insert: it is atomic, leaves no gap, and concurrent appends get different numbers.
 */
export function openChunkStore(connection: Connection, onAppended: (partition: string) => void): ChunkStore {
  const chunks = openCollection<ChunkDocument>(connection, 'logChunks');
  const queue = keyedQueue<string>();
  /** The last chunk of a partition that this process has appended; another process may have appended more. */
  const lastAppended = new Map<string, { sequence: number; at: number }>();

  /**
   * Valid only for a short time: later chunks of other processes may have been removed, and their numbers look free.
   */
  function rememberedSequence(name: string): number | undefined {
    const known = lastAppended.get(name);
    return known && performance.now() - known.at < rememberedMs ? known.sequence : undefined;
  }

  async function lastSequence(topic: string, partition: number): Promise<number> {
    const ofPartition = { _id: chunkIdsFrom(topic, partition, 0) };
    const last = await chunks.findOne(ofPartition, { sort: { _id: -1 }, projection: { sequence: 1 } });
    return last?.sequence ?? 0;
  }

  async function appendChunk(topic: string, partition: number, given: readonly OutgoingMessage[]): Promise<void> {
    const messages = given.map(({ key, value, headers }) => ({ key, value: new mongo.Binary(value), headers }));
    const name = partitionName(topic, partition);
    let last = rememberedSequence(name);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      last ??= await lastSequence(topic, partition);
      const sequence = last + 1;
      const document = { _id: chunkId(topic, partition, sequence), sequence, appendedAt: new Date(), messages };
      try {
        await chunks.insertOne(document);
        lastAppended.set(name, { sequence, at: performance.now() });
        onAppended(name);
        return;
      } catch (error) {
        lastAppended.delete(name);
        if (!isDuplicateKey(error)) throw error;
        last = undefined;
      }
    }
    throw new Error(`${name} has too many concurrent appends`);
  }

  return {
    append: (topic, partition, messages) =>
      queue.run(partitionName(topic, partition), async () => {
        for (const part of toBatches(messages, maxChunk)) await appendChunk(topic, partition, part);
      }),
    async read(topic, partition, offset) {
      const ids = chunkIdsFrom(topic, partition, Math.floor(offset / messagesPerChunk));
      const found = await chunks.find({ _id: ids }, { sort: { _id: 1 }, limit: chunksAtATime }).toArray();
      return found.flatMap(({ sequence, messages }) =>
        messages.flatMap(({ key, value, headers }, index) => {
          const at = sequence * messagesPerChunk + index;
          return at < offset ? [] : [{ topic, partition, offset: String(at), key, value: value.buffer, headers }];
        }),
      );
    },
    async count(topic, partition, offset) {
      const ids = chunkIdsFrom(topic, partition, Math.floor(offset / messagesPerChunk));
      const found = await chunks
        .aggregate<{ sequence: number; count: number }>([
          { $match: { _id: ids } },
          { $project: { sequence: 1, count: { $size: '$messages' } } },
        ])
        .toArray();
      const countFrom = ({ sequence, count }: { sequence: number; count: number }) =>
        Math.min(count, Math.max(0, sequence * messagesPerChunk + count - offset));
      return found.reduce((sum, chunk) => sum + countFrom(chunk), 0);
    },
    async appendedAt(topic, partition, offset) {
      const ids = chunkIdsFrom(topic, partition, Math.floor(offset / messagesPerChunk));
      // All messages of the first chunk may be before the offset.
      const found = await chunks
        .aggregate<{ sequence: number; appendedAt: Date; count: number }>([
          { $match: { _id: ids } },
          { $sort: { _id: 1 } },
          { $limit: 2 },
          { $project: { sequence: 1, appendedAt: 1, count: { $size: '$messages' } } },
        ])
        .toArray();
      const first = found.find(({ sequence, count }) => sequence * messagesPerChunk + count > offset);
      return first?.appendedAt.getTime();
    },
    lastSequence,
    async appendedAfter(sequences) {
      const ranges = [...sequences].map(([name, sequence]) => {
        const { topic, partition } = parsePartitionName(name);
        return { _id: chunkIdsFrom(topic, partition, sequence + 1) };
      });
      // The index contains the ids, so no document is read.
      const found = await chunks
        .find({ $or: ranges }, { projection: { _id: 1 }, sort: { _id: 1 }, limit: maxIdsRead })
        .toArray();
      return new Map(found.map(({ _id }) => parseChunkId(_id)).map(({ partition, sequence }) => [partition, sequence]));
    },
    async removeOlder(topic, partition, than) {
      const { $gte } = chunkIdsFrom(topic, partition, 0);
      const last = chunkId(topic, partition, await lastSequence(topic, partition));
      await chunks.deleteMany({ _id: { $gte, $lt: last }, appendedAt: { $lt: than } });
    },
  };
}
