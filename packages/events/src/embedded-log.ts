import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { DomainError } from '@ticketing/rest/domain-error.ts';
import { type Connection, mongo } from 'mongoose';
import { batchesOf } from './batches.ts';
import {
  type Bus,
  type IncomingMessage,
  type OutgoingMessage,
  type RunningSubscription,
  retryDelayMs,
  type Subscription,
  type Topic,
} from './bus.ts';
import { partitionOf } from './partition.ts';

/** Messages that were appended together. Its id is its place, so that no two take the same one. */
interface ChunkDocument {
  /** Topic, partition and sequence. */
  _id: string;
  topic: string;
  partition: number;
  sequence: number;
  appendedAt: Date;
  messages: { key: string; value: mongo.Binary; headers: Record<string, string> }[];
}

interface TopicDocument {
  _id: string;
  partitions: number;
  retentionMs: number;
}

/** How far a group has come in a partition, and who of it reads there. */
interface PlaceDocument {
  /** Group, topic and partition. */
  _id: string;
  /** The next message: sequence × `chunkSize` + index. */
  offset: number;
  owner: string | null;
  leasedUntil: Date;
}

interface MemberDocument {
  _id: string;
  group: string;
  until: Date;
}

const chunkSize = 1000;
const maxChunk = { bytes: 4 * 1024 * 1024, messages: chunkSize };
const maxAppendAttempts = 100;
const leaseMs = 5_000;
const renewMs = 1_000;
const pollMs = 100;
const chunksAtATime = 20;

/**
 * The bus of one machine: a log that is kept in the store. Messages that are appended together are one document, whose
 * id is its place in the partition: an append is all or nothing, leaves no gap, and of two at a time one comes later.
 *
 * A group's partitions are leased by its members, who share them evenly; whoever has lost a lease can not acknowledge.
 */
export function embeddedLog(connection: Connection): Bus {
  const chunks = () => connection.collection<ChunkDocument>('logChunks') as unknown as mongo.Collection<ChunkDocument>;
  const topics = () => connection.collection<TopicDocument>('logTopics') as unknown as mongo.Collection<TopicDocument>;
  const places = () => connection.collection<PlaceDocument>('logPlaces') as unknown as mongo.Collection<PlaceDocument>;
  const members = () =>
    connection.collection<MemberDocument>('logMembers') as unknown as mongo.Collection<MemberDocument>;
  const appended = new EventEmitter().setMaxListeners(0);
  const known = new Map<string, number>();
  const queues = new Map<string, Promise<unknown>>();
  const running = new Set<RunningSubscription>();

  async function partitionsOf(topic: string): Promise<number> {
    const partitions = known.get(topic) ?? (await topics().findOne({ _id: topic }))?.partitions;
    if (partitions === undefined) throw new DomainError('not_found', 'unknown_topic', `There is no topic ${topic}.`);
    known.set(topic, partitions);
    return partitions;
  }

  /** Appends of one process to one partition follow one another, in the order of their calls. */
  function append(topic: string, partition: number, messages: readonly OutgoingMessage[]): Promise<void> {
    const name = `${topic}/${partition}`;
    const turn = (queues.get(name) ?? Promise.resolve()).then(async () => {
      for (const part of batchesOf(messages, maxChunk)) await appendChunk(topic, partition, part);
    });
    const settled = turn.catch(() => undefined);
    queues.set(name, settled);
    void settled.then(() => {
      if (queues.get(name) === settled) queues.delete(name);
    });
    return turn;
  }

  async function appendChunk(topic: string, partition: number, messages: readonly OutgoingMessage[]): Promise<void> {
    const kept = messages.map(({ key, value, headers }) => ({ key, value: new mongo.Binary(value), headers }));
    for (let attempt = 0; attempt < maxAppendAttempts; attempt++) {
      const sequence = (await lastSequence(topic, partition)) + 1;
      const _id = chunkId(topic, partition, sequence);
      try {
        await chunks().insertOne({ _id, topic, partition, sequence, appendedAt: new Date(), messages: kept });
        appended.emit(topic);
        return;
      } catch (error) {
        if (!isTaken(error)) throw error;
      }
    }
    throw new Error(`${topic}/${partition} is appended to by too many at a time`);
  }

  async function lastSequence(topic: string, partition: number): Promise<number> {
    const range = { $gt: chunkId(topic, partition, 0), $lt: chunkId(topic, partition, maxSequence) };
    const last = await chunks().findOne({ _id: range }, { sort: { _id: -1 }, projection: { sequence: 1 } });
    return last?.sequence ?? 0;
  }

  async function read(topic: string, partition: number, offset: number): Promise<IncomingMessage[]> {
    const first = chunkId(topic, partition, Math.floor(offset / chunkSize));
    const range = { $gte: first, $lt: chunkId(topic, partition, maxSequence) };
    const found = await chunks()
      .find({ _id: range }, { sort: { _id: 1 }, limit: chunksAtATime })
      .toArray();
    return found.flatMap(({ sequence, messages }) =>
      messages.flatMap(({ key, value, headers }, index) => {
        const place = sequence * chunkSize + index;
        return place < offset ? [] : [{ topic, partition, offset: String(place), key, value: value.buffer, headers }];
      }),
    );
  }

  async function subscribe(subscription: Subscription): Promise<RunningSubscription> {
    const { group } = subscription;
    const member = randomUUID();
    const stopping = new AbortController();
    const readers = new Map<string, { stop: AbortController; ended: Promise<void> }>();
    const all = await Promise.all(
      subscription.topics.map(async (topic) => {
        const count = await partitionsOf(topic);
        return Array.from({ length: count }, (_, partition) => ({
          topic,
          partition,
          id: `${group}/${topic}/${partition}`,
        }));
      }),
    );
    const partitions = all.flat();

    /** The partitions that fall to this member, when all who live share them evenly. */
    async function share(): Promise<Set<string>> {
      const now = new Date();
      const until = new Date(now.getTime() + leaseMs);
      await members().updateOne({ _id: `${group}/${member}` }, { $set: { group, until } }, { upsert: true });
      await members().deleteMany({ group, until: { $lt: now } });
      const living = (await members().find({ group }).toArray()).map(({ _id }) => _id).sort();
      const mine = living.indexOf(`${group}/${member}`);
      return new Set(partitions.filter((_, index) => index % living.length === mine).map(({ id }) => id));
    }

    /** Takes or renews the lease of a partition; answers where to read on, undefined if another has it. */
    async function lease(id: string): Promise<number | undefined> {
      const now = new Date();
      const leasedUntil = new Date(now.getTime() + leaseMs);
      try {
        const place = await places().findOneAndUpdate(
          { _id: id, $or: [{ owner: { $in: [member, null] } }, { leasedUntil: { $lt: now } }] },
          { $set: { owner: member, leasedUntil }, $setOnInsert: { offset: 0 } },
          { upsert: true, returnDocument: 'after' },
        );
        return place?.offset;
      } catch (error) {
        if (isTaken(error)) return undefined;
        throw error;
      }
    }

    async function renew(): Promise<void> {
      const wanted = stopping.signal.aborted ? new Set<string>() : await share();
      for (const { topic, partition, id } of partitions) {
        const reader = readers.get(id);
        if (!wanted.has(id)) {
          if (reader) await end(id, reader);
          continue;
        }
        const offset = await lease(id);
        if (offset === undefined) {
          if (reader) await end(id, reader);
        } else if (!reader) {
          const stop = new AbortController();
          const ended = readOn({ topic, partition, id }, offset, stop.signal).catch(subscription.onError);
          readers.set(id, { stop, ended: ended.finally(() => readers.delete(id)) });
        }
      }
    }

    async function end(id: string, { stop, ended }: { stop: AbortController; ended: Promise<void> }): Promise<void> {
      stop.abort();
      await ended;
      await places().updateOne({ _id: id, owner: member }, { $set: { owner: null } });
    }

    async function readOn(
      { topic, partition, id }: { topic: string; partition: number; id: string },
      from: number,
      signal: AbortSignal,
    ): Promise<void> {
      let offset = from;
      let failures = 0;
      while (!signal.aborted) {
        const messages = await read(topic, partition, offset);
        if (messages.length === 0) {
          await Promise.race([once(appended, topic, { signal }), setTimeout(pollMs, undefined, { signal })]).catch(
            () => undefined,
          );
          continue;
        }
        const before = offset;
        const acknowledge = (message: IncomingMessage) => {
          offset = Math.max(offset, Number(message.offset) + 1);
        };
        let hasFailed = false;
        await subscription.handle(messages, { acknowledge, signal }).catch((error: unknown) => {
          hasFailed = true;
          subscription.onError(error);
        });
        if (offset > before) {
          const kept = await places().updateOne({ _id: id, owner: member }, { $set: { offset } });
          // Another has the partition now, and reads from what was acknowledged before.
          if (kept.matchedCount === 0) return;
          failures = 0;
        }
        if (hasFailed) await setTimeout(retryDelayMs(failures++), undefined, { signal }).catch(() => undefined);
      }
    }

    async function keepSharing(): Promise<void> {
      while (!stopping.signal.aborted) {
        await renew().catch(subscription.onError);
        await setTimeout(renewMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
      await renew().catch(subscription.onError);
      await members().deleteOne({ _id: `${group}/${member}` });
    }
    const ended = keepSharing();
    const part: RunningSubscription = {
      async stop() {
        running.delete(part);
        stopping.abort();
        await ended;
      },
    };
    running.add(part);
    return part;
  }

  return {
    async setUp(wanted: readonly Topic[]) {
      for (const { name, partitions, retentionMs } of wanted) {
        await topics().updateOne(
          { _id: name },
          { $set: { retentionMs }, $setOnInsert: { partitions } },
          { upsert: true },
        );
      }
    },
    async publish(topic, messages) {
      const count = await partitionsOf(topic);
      const byPartition = Map.groupBy(messages, ({ key }) => partitionOf(key, count));
      await Promise.all([...byPartition].map(([partition, part]) => append(topic, partition, part)));
    },
    subscribe,
    async check() {
      await topics().findOne({});
    },
    async close() {
      await Promise.all([...running].map((part) => part.stop()));
    },
  };
}

const maxSequence = 10 ** 12 - 1;

function chunkId(topic: string, partition: number, sequence: number): string {
  return `${topic}/${partition}/${String(sequence).padStart(12, '0')}`;
}

/** Whether another has inserted the same key first. */
function isTaken(error: unknown): boolean {
  return error instanceof mongo.MongoServerError && error.code === 11_000;
}
