import type { Leased } from '@ticketing/store/leases/lease.ts';
import type { Connection, mongo } from 'mongoose';

/** The tags that somebody has decided; `version` 0: nobody has. */
export interface StoredTags {
  version: number;
  tagIds: number[];
  byPerson: boolean;
}

/** A training example from a ticket. */
export interface StoredExample {
  /** The version of the format of models and features. */
  format: number;
  features: mongo.Binary;
  /** Null: nobody has decided. */
  tagIds: number[] | null;
  isSpam: boolean | null;
}

/** A ticket that somebody has decided something about. */
export interface ExampleDocument extends Leased<number> {
  tags: StoredTags;
  /** Rises with everything that is noted of the ticket. */
  revision: number;
  /** The time at which the ticket is to be read; null: not again, until something is noted. */
  dueAt: Date | null;
  attempts: number;
  lastError: string | null;
  example: StoredExample | null;
  /** The time of the last change of `example`. */
  changedAt: Date | null;
}

/** The collection of a connection. */
export function exampleCollection(connection: Connection): mongo.Collection<ExampleDocument> {
  return connection.collection('examples') as unknown as mongo.Collection<ExampleDocument>;
}

/** Builds the missing indexes of the examples. */
export async function buildExampleIndexes(connection: Connection): Promise<void> {
  const examples = exampleCollection(connection);
  await examples.createIndex({ dueAt: 1 });
  await examples.createIndex({ changedAt: 1 });
  await examples.createIndex({ 'example.format': 1, changedAt: -1 });
  await examples.createIndex({ lastError: 1 });
  await examples.createIndex({ 'example.tagIds': 1 });
}
