import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Topic } from '@ticketing/contracts/topics.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type Database, isDuplicateKey, isUnreachable } from '@ticketing/store/database.ts';
import { mongo } from 'mongoose';
import { batchesOf } from './batches.ts';
import {
  type Bus,
  type IncomingMessage,
  type OutgoingMessage,
  type RunningSubscription,
  retryDelayMs,
  type Subscription,
} from './bus.ts';
import { partitionName, partitionOf } from './partition.ts';
import { type LeaseDocument, shareWork } from './shared-leases.ts';

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
interface PlaceDocument extends LeaseDocument {
  /** The next message: sequence × `chunkSize` + index. */
  offset: number;
}

/** Who reads a partition for a group. */
interface Reader {
  subscription: Subscription;
  /** Topic and partition. */
  place: string;
  owner: string | null;
}

const chunkSize = 1000;
const maxChunk = { bytes: 4 * 1024 * 1024, messages: chunkSize };
const maxAppendAttempts = 100;
const pollMs = 100;
/** How long a reader waits at most before it looks by itself. */
const idleMs = 2_000;
/** After fewer messages than this, more are gathered for a moment: handling many at a time costs little more than one. */
const largeBatch = 100;
const gatherMs = 200;
const removeOldEveryMs = 60_000;
const openPatienceMs = 5_000;
const chunksAtATime = 20;
const newsAtATime = 1000;
/** For how long a process relies on what it has appended itself; far shorter than any retention. */
const rememberedMs = 5_000;

/**
 * The bus of one machine: a log that is kept in the store. Messages that are appended together are one document, whose
 * id is its place in the partition: an append is all or nothing, leaves no gap, and of two at a time one comes later.
 *
 * A group's partitions are leased by its members, who share them evenly; whoever has lost a lease can not acknowledge.
 */
export function embeddedLog({ connection, opened }: Pick<Database, 'connection' | 'opened'>): Bus {
  const chunks = () => connection.collection<ChunkDocument>('logChunks') as unknown as mongo.Collection<ChunkDocument>;
  const topics = () => connection.collection<TopicDocument>('logTopics') as unknown as mongo.Collection<TopicDocument>;
  const places = () => connection.collection<PlaceDocument>('logPlaces') as unknown as mongo.Collection<PlaceDocument>;
  const appended = new EventEmitter().setMaxListeners(0);
  /** How many appends to a partition this process has learnt of. */
  const appends = new Map<string, number>();
  const known = new Map<string, number>();
  const queues = new Map<string, Promise<unknown>>();
  /** The last chunk of a partition that this process has appended, and when; another process may have appended more. */
  const lastAppended = new Map<string, { sequence: number; at: number }>();
  const running = new Set<RunningSubscription>();
  const oldRemovedAt = new Map<string, number>();
  const closing = new AbortController();
  const watching = watch();

  const appendsTo = (place: string) => appends.get(place) ?? 0;
  function tellOf(place: string): void {
    appends.set(place, appendsTo(place) + 1);
    appended.emit(place);
  }

  async function partitionsOf(topic: string): Promise<number> {
    const partitions = known.get(topic) ?? (await topics().findOne({ _id: topic }))?.partitions;
    if (partitions === undefined) throw new DomainError('unavailable', 'unknown_topic', `There is no topic ${topic}.`);
    known.set(topic, partitions);
    return partitions;
  }

  /** Appends of one process to one partition follow one another, in the order of their calls. */
  function append(topic: string, partition: number, messages: readonly OutgoingMessage[]): Promise<void> {
    const name = partitionName(topic, partition);
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
    const place = partitionName(topic, partition);
    let last = lastOf(place);
    for (let attempt = 0; attempt < maxAppendAttempts; attempt++) {
      last ??= await lastSequence(topic, partition);
      const sequence = last + 1;
      const _id = chunkId(topic, partition, sequence);
      try {
        await chunks().insertOne({ _id, topic, partition, sequence, appendedAt: new Date(), messages: kept });
        lastAppended.set(place, { sequence, at: performance.now() });
        tellOf(place);
        return;
      } catch (error) {
        lastAppended.delete(place);
        if (!isDuplicateKey(error)) throw error;
        last = undefined;
      }
    }
    throw new Error(`${place} is appended to by too many at a time`);
  }

  /** Not for long: what others have appended since may have been removed again, and its place would look free. */
  function lastOf(place: string): number | undefined {
    const known = lastAppended.get(place);
    return known && performance.now() - known.at < rememberedMs ? known.sequence : undefined;
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
    const all = await Promise.all(subscription.topics.map(placesOf));
    const member = shareWork<PlaceDocument>(
      { connection, opened },
      {
        collection: 'logPlaces',
        group: subscription.group,
        parts: all.flat(),
        initial: { offset: 0 },
        work: (place, lease, signal) => readOn({ subscription, place, owner: lease.owner }, lease.offset, signal),
        onError: subscription.onError,
      },
    );
    const part: RunningSubscription = {
      lag: () => answered(() => lagOf(subscription.group, member.held())),
      async stop() {
        running.delete(part);
        await member.stop();
      },
    };
    running.add(part);
    return part;
  }

  async function placesOf(topic: string): Promise<string[]> {
    return Array.from({ length: await partitionsOf(topic) }, (_, partition) => partitionName(topic, partition));
  }

  /** Reads a partition on from an offset, until it goes to another. */
  async function readOn(reader: Reader, from: number, signal: AbortSignal): Promise<void> {
    const { subscription, place, owner } = reader;
    const { topic, partition } = parsePlace(place);
    let offset = from;
    let failures = 0;
    while (!signal.aborted) {
      const counted = appendsTo(place);
      const messages = await read(topic, partition, offset);
      if (messages.length === 0) {
        await newsSince(counted, place, signal);
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
        const kept = await places().updateOne({ _id: `${subscription.group}/${place}`, owner }, { $set: { offset } });
        // Another has the partition now, and reads from what was acknowledged before.
        if (kept.matchedCount === 0) return;
        failures = 0;
      }
      const pauseMs = hasFailed ? retryDelayMs(failures++) : messages.length < largeBatch ? gatherMs : 0;
      if (pauseMs > 0) await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Resolves when something has been appended to a partition since its appends were counted, or after a while. */
  async function newsSince(counted: number, place: string, signal: AbortSignal): Promise<void> {
    if (appendsTo(place) !== counted) return;
    const done = new AbortController();
    const either = AbortSignal.any([signal, done.signal]);
    const news = [once(appended, place, { signal: either }), setTimeout(idleMs, undefined, { signal: either })];
    await Promise.race(news).catch(() => undefined);
    done.abort();
    await Promise.allSettled(news);
  }

  /** Looks for what other processes append: one small read for all partitions that are read here. */
  async function watch(): Promise<void> {
    const seen = new Map<string, number>();
    while (!closing.signal.aborted) {
      await lookForNews(seen).catch(() => undefined);
      await setTimeout(pollMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  async function lookForNews(seen: Map<string, number>): Promise<void> {
    const watched = [...appended.eventNames()].map(String);
    if (watched.length === 0) return;
    for (const place of watched) {
      if (seen.has(place)) continue;
      const { topic, partition } = parsePlace(place);
      seen.set(place, await lastSequence(topic, partition));
      tellOf(place);
    }
    const ranges = watched.map((place) => {
      const { topic, partition } = parsePlace(place);
      const next = chunkId(topic, partition, (seen.get(place) ?? 0) + 1);
      return { _id: { $gte: next, $lt: chunkId(topic, partition, maxSequence) } };
    });
    // Their ids are read from the index alone.
    const found = await chunks()
      .find({ $or: ranges }, { projection: { _id: 1 }, sort: { _id: 1 }, limit: newsAtATime })
      .toArray();
    for (const { _id } of found) {
      const { place, sequence } = parseChunkId(_id);
      seen.set(place, sequence);
      tellOf(place);
    }
  }

  /** Removes what is older than its topic keeps, but for the last chunk of a partition, which tells the next place. */
  async function removeOld(topic: string): Promise<void> {
    const document = await topics().findOne({ _id: topic });
    if (!document) return;
    const before = new Date(Date.now() - document.retentionMs);
    for (let partition = 0; partition < document.partitions; partition++) {
      const last = chunkId(topic, partition, await lastSequence(topic, partition));
      await chunks().deleteMany({ _id: { $gt: chunkId(topic, partition, 0), $lt: last }, appendedAt: { $lt: before } });
    }
  }

  async function messagesBehind(group: string, place: string): Promise<number> {
    const { topic, partition } = parsePlace(place);
    const offset = (await places().findOne({ _id: `${group}/${place}` }))?.offset ?? 0;
    const first = chunkId(topic, partition, Math.floor(offset / chunkSize));
    const found = await chunks()
      .aggregate<{ sequence: number; count: number }>([
        { $match: { _id: { $gte: first, $lt: chunkId(topic, partition, maxSequence) } } },
        { $project: { sequence: 1, count: { $size: '$messages' } } },
      ])
      .toArray();
    return found.reduce(
      (sum, { sequence, count }) => sum + Math.min(count, Math.max(0, sequence * chunkSize + count - offset)),
      0,
    );
  }

  async function setUp(wanted: readonly Topic[]): Promise<void> {
    for (const { name, partitions, retentionMs } of wanted) {
      await topics().updateOne(
        { _id: name },
        { $set: { retentionMs }, $setOnInsert: { partitions } },
        { upsert: true },
      );
    }
  }

  async function publish(topic: string, messages: readonly OutgoingMessage[]): Promise<void> {
    const count = await partitionsOf(topic);
    const byPartition = Map.groupBy(messages, ({ key }) => partitionOf(key, count));
    await Promise.all([...byPartition].map(([partition, part]) => append(topic, partition, part)));
    if ((oldRemovedAt.get(topic) ?? 0) > Date.now() - removeOldEveryMs) return;
    oldRemovedAt.set(topic, Date.now());
    // Nobody waits for it; the next publisher tries again what fails.
    removeOld(topic).catch(() => undefined);
  }

  async function lag(group: string, names: readonly string[]): Promise<number> {
    return lagOf(group, (await Promise.all(names.map(placesOf))).flat());
  }

  async function lagOf(group: string, all: readonly string[]): Promise<number> {
    const lags = await Promise.all(all.map((place) => messagesBehind(group, place)));
    return lags.reduce((sum, behind) => sum + behind, 0);
  }

  async function openedInTime(): Promise<void> {
    const done = new AbortController();
    const late = setTimeout(openPatienceMs, 'late', { signal: done.signal }).catch(() => undefined);
    const first = await Promise.race([opened, late]);
    done.abort();
    if (first === 'late') throw new DomainError('unavailable', 'bus_unavailable', 'The bus was never reached.');
  }

  /** Waits for the store to be reached for the first time; one that is away later is the bus that is away. */
  async function answered<Result>(work: () => Promise<Result>): Promise<Result> {
    await openedInTime();
    try {
      return await work();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      throw new DomainError('unavailable', 'bus_unavailable', 'The bus does not answer.', { cause: error });
    }
  }

  return {
    setUp: (wanted) => answered(() => setUp(wanted)),
    publish: (topic, messages) => answered(() => publish(topic, messages)),
    subscribe: (subscription) => answered(() => subscribe(subscription)),
    lag: (group, names) => answered(() => lag(group, names)),
    check: () => answered(async () => void (await topics().findOne({}))),
    async close() {
      await Promise.all([...running].map((part) => part.stop()));
      closing.abort();
      await watching;
    },
  };
}

const maxSequence = 10 ** 12 - 1;

function parsePlace(place: string): { topic: string; partition: number } {
  const slash = place.lastIndexOf('/');
  return { topic: place.slice(0, slash), partition: Number(place.slice(slash + 1)) };
}

function parseChunkId(id: string): { place: string; sequence: number } {
  const slash = id.lastIndexOf('/');
  return { place: id.slice(0, slash), sequence: Number(id.slice(slash + 1)) };
}

function chunkId(topic: string, partition: number, sequence: number): string {
  return `${partitionName(topic, partition)}/${String(sequence).padStart(12, '0')}`;
}
