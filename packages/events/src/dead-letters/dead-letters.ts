import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import { type Connection, mongo } from 'mongoose';
import type { IncomingMessage } from '../bus/bus.ts';

/** A message that a group could not handle, or that followed such a message of the same key. */
export interface DeadLetter extends IncomingMessage {
  /** Group, topic, partition and offset. */
  id: string;
  group: string;
  reason: string;
  deadLetteredAt: Date;
}

/**
 * The dead letters of the consumer groups of a service. A key that has dead letters is blocked: later messages of the
 * key are dead-lettered too, so that a replay handles them in their order.
 */
export interface DeadLetters {
  /** Stores messages as dead letters. A message that is stored already is not changed. */
  add(group: string, messages: readonly IncomingMessage[], reason: string): Promise<void>;
  /** Returns which of the given keys are blocked. */
  blockedKeys(group: string, topic: string, candidates: readonly string[]): Promise<Set<string>>;
  /** Returns the oldest dead letter of a key. */
  next(group: string, topic: string, key: string): Promise<DeadLetter | undefined>;
  remove(id: string): Promise<void>;
  /** Returns the dead letters of all groups, sorted by group, topic, key and offset. */
  list(limit: number): Promise<DeadLetter[]>;
  /** Returns how many keys of a group are blocked. */
  countBlockedKeys(group: string): Promise<number>;
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

/** Opens the dead letters of a service. Errors of every operation: store_unavailable. */
export function openDeadLetters(connection: Connection): DeadLetters {
  const documents = () => openCollection<DeadLetterDocument>(connection, 'deadLetters');
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
    blockedKeys: (group, topic, candidates) =>
      storeCall(
        async () => new Set(await documents().distinct('key', { group, topic, key: { $in: [...candidates] } })),
      ),
    next: (group, topic, key) =>
      storeCall(async () => {
        const document = await documents().findOne({ group, topic, key }, { sort: { offset: 1 } });
        return document ? fromDocument(document) : undefined;
      }),
    remove: (id) => storeCall(async () => void (await documents().deleteOne({ _id: id }))),
    list: (limit) =>
      storeCall(async () => {
        const found = await documents()
          .find({}, { sort: { group: 1, topic: 1, key: 1, offset: 1 }, limit })
          .toArray();
        return found.map(fromDocument);
      }),
    countBlockedKeys: (group) => storeCall(async () => (await documents().distinct('key', { group })).length),
  };
}

/** Builds the index of the dead letters of a service. */
export async function buildDeadLetterIndex(connection: Connection): Promise<void> {
  await connection.collection('deadLetters').createIndex({ group: 1, topic: 1, key: 1, offset: 1 });
}

function fromDocument({ _id, offset, value, ...rest }: DeadLetterDocument): DeadLetter {
  return { ...rest, id: _id, offset: String(offset), value: value.buffer };
}
