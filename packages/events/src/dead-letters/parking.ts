import { reachable } from '@ticketing/store/database.ts';
import { type Connection, mongo } from 'mongoose';
import type { IncomingMessage } from '../bus/bus.ts';

/** A message that a group could not handle, or that came after such a one of its key. */
export interface ParkedMessage extends IncomingMessage {
  /** Group, topic and place. */
  id: string;
  group: string;
  reason: string;
  parkedAt: Date;
}

/** Where a service keeps the messages that its groups could not handle, each key in its order. */
export interface Parking {
  add(group: string, messages: readonly IncomingMessage[], reason: string): Promise<void>;
  /** Those of some keys that have parked messages; all keys of the group, if none are named. */
  keys(group: string, topic: string, among: readonly string[]): Promise<Set<string>>;
  /** The oldest parked message of a key. */
  next(group: string, topic: string, key: string): Promise<ParkedMessage | undefined>;
  remove(id: string): Promise<void>;
  /** The parked messages of all groups, by key and place. */
  list(limit: number): Promise<ParkedMessage[]>;
  countKeys(group: string): Promise<number>;
}

interface ParkedDocument {
  _id: string;
  group: string;
  topic: string;
  partition: number;
  offset: number;
  key: string;
  value: mongo.Binary;
  headers: Record<string, string>;
  reason: string;
  parkedAt: Date;
}

/** Opens the parking of a service. Errors of every operation: store_unavailable. */
export function openParking(connection: Connection): Parking {
  const parked = () => connection.collection('parkedMessages') as unknown as mongo.Collection<ParkedDocument>;
  return {
    add: (group, messages, reason) =>
      reachable(async () => {
        const writes = messages.map(({ topic, partition, offset, key, value, headers }) => ({
          updateOne: {
            filter: { _id: `${group}/${topic}/${partition}/${offset}` },
            update: {
              $setOnInsert: {
                ...{ group, topic, partition, offset: Number(offset), key, headers, reason },
                ...{ value: new mongo.Binary(value), parkedAt: new Date() },
              },
            },
            upsert: true,
          },
        }));
        await parked().bulkWrite(writes, { ordered: false });
      }),
    keys: (group, topic, among) =>
      reachable(async () => new Set(await parked().distinct('key', { group, topic, key: { $in: [...among] } }))),
    next: (group, topic, key) =>
      reachable(async () => {
        const document = await parked().findOne({ group, topic, key }, { sort: { offset: 1 } });
        return document ? messageOf(document) : undefined;
      }),
    remove: (id) => reachable(async () => void (await parked().deleteOne({ _id: id }))),
    list: (limit) =>
      reachable(async () => {
        const found = await parked()
          .find({}, { sort: { group: 1, topic: 1, key: 1, offset: 1 }, limit })
          .toArray();
        return found.map(messageOf);
      }),
    countKeys: (group) => reachable(async () => (await parked().distinct('key', { group })).length),
  };
}

/** Builds the index of a service's parking. */
export async function buildParkingIndex(connection: Connection): Promise<void> {
  await connection.collection('parkedMessages').createIndex({ group: 1, topic: 1, key: 1, offset: 1 });
}

function messageOf({ _id, offset, value, ...rest }: ParkedDocument): ParkedMessage {
  return { ...rest, id: _id, offset: String(offset), value: value.buffer };
}
