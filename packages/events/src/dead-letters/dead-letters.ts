import { storeCall } from '@ticketing/store/database.ts';
import { type Connection, mongo } from 'mongoose';
import type { IncomingMessage } from '../bus/bus.ts';

/** A message that a group could not handle, or that came after such a one of its key. */
export interface DeadLetter extends IncomingMessage {
  /** Group, topic and place. */
  id: string;
  group: string;
  reason: string;
  deadLetteredAt: Date;
}

/** Where a service keeps the messages that its groups could not handle, each key in its order. */
export interface DeadLetters {
  add(group: string, messages: readonly IncomingMessage[], reason: string): Promise<void>;
  /** Those of some keys that have parked messages; all keys of the group, if none are named. */
  keys(group: string, topic: string, among: readonly string[]): Promise<Set<string>>;
  /** The oldest parked message of a key. */
  next(group: string, topic: string, key: string): Promise<DeadLetter | undefined>;
  remove(id: string): Promise<void>;
  /** The parked messages of all groups, by key and place. */
  list(limit: number): Promise<DeadLetter[]>;
  countKeys(group: string): Promise<number>;
}

interface DeadLetterDocument {
  _id: string;
  group: string;
  topic: string;
  partition: number;
  offset: number;
  key: string;
  value: mongo.Binary;
  headers: Record<string, string>;
  reason: string;
  deadLetteredAt: Date;
}

/** Opens the deadLetters of a service. Errors of every operation: store_unavailable. */
export function openDeadLetters(connection: Connection): DeadLetters {
  const documents = () => connection.collection('deadLetters') as unknown as mongo.Collection<DeadLetterDocument>;
  return {
    add: (group, messages, reason) =>
      storeCall(async () => {
        const writes = messages.map(({ topic, partition, offset, key, value, headers }) => ({
          updateOne: {
            filter: { _id: `${group}/${topic}/${partition}/${offset}` },
            update: {
              $setOnInsert: {
                ...{ group, topic, partition, offset: Number(offset), key, headers, reason },
                ...{ value: new mongo.Binary(value), deadLetteredAt: new Date() },
              },
            },
            upsert: true,
          },
        }));
        await documents().bulkWrite(writes, { ordered: false });
      }),
    keys: (group, topic, among) =>
      storeCall(async () => new Set(await documents().distinct('key', { group, topic, key: { $in: [...among] } }))),
    next: (group, topic, key) =>
      storeCall(async () => {
        const document = await documents().findOne({ group, topic, key }, { sort: { offset: 1 } });
        return document ? messageOf(document) : undefined;
      }),
    remove: (id) => storeCall(async () => void (await documents().deleteOne({ _id: id }))),
    list: (limit) =>
      storeCall(async () => {
        const found = await documents()
          .find({}, { sort: { group: 1, topic: 1, key: 1, offset: 1 }, limit })
          .toArray();
        return found.map(messageOf);
      }),
    countKeys: (group) => storeCall(async () => (await documents().distinct('key', { group })).length),
  };
}

/** Builds the index of a service's deadLetters. */
export async function buildDeadLetterIndex(connection: Connection): Promise<void> {
  await connection.collection('deadLetters').createIndex({ group: 1, topic: 1, key: 1, offset: 1 });
}

function messageOf({ _id, offset, value, ...rest }: DeadLetterDocument): DeadLetter {
  return { ...rest, id: _id, offset: String(offset), value: value.buffer };
}
