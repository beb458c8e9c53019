import type { Bus } from '@ticketing/events/bus/bus.ts';
import { openBus } from '@ticketing/events/bus/bus-config.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { consumedTopics, type ServiceEntry, serviceNamed, services } from '@ticketing/system/services.ts';
import { sharedConfig } from '@ticketing/testkit/shared-config.ts';
import mongoose from 'mongoose';
import { expect } from 'vitest';
import type { System } from './harness.ts';

/** A collection of a system with all its documents. */
export interface StoredCollection {
  /** The database without the name of the system, and the collection: `tickets.conversations`. */
  path: string;
  name: string;
  documents: mongoose.mongo.BSON.Document[];
}

/** Reads every collection of all stores and of the event log of a system, one after the other. */
export async function* storedCollections({ mongodbUri, environment, name }: System): AsyncGenerator<StoredCollection> {
  const client = await new mongoose.mongo.MongoClient(mongodbUri).connect();
  try {
    const variables = Object.entries(environment).filter(([variable]) => variable.endsWith('MONGODB_DATABASE'));
    for (const database of new Set(variables.map(([, value]) => value))) {
      for (const collection of await client.db(database).collections()) {
        const path = `${database.slice(name.length + 1)}.${collection.collectionName}`;
        yield { path, name: collection.collectionName, documents: await collection.find().toArray() };
      }
    }
  } finally {
    await client.close();
  }
}

/** Documents by `<service>.<collection>/<id>`, each as a text that two documents have in common only if their bytes are equal. */
export type StoredDocuments = ReadonlyMap<string, string>;

const { EJSON } = mongoose.mongo.BSON;

/** Collections that are heartbeats of processes, every few seconds; of consumer offsets the field `lease` is one. */
const signsOfLife = /Leases$|Groups$|^lastSeen$/;

/** Reads what a system has stored. */
export async function storedDocuments(system: System): Promise<StoredDocuments> {
  const stored = new Map<string, string>();
  for await (const { path, name, documents } of storedCollections(system)) {
    if (signsOfLife.test(name)) continue;
    for (const { lease, ...document } of documents) {
      const whole = name === 'logConsumerOffsets' || lease === undefined ? document : { ...document, lease };
      stored.set(`${path}/${EJSON.stringify(document._id)}`, EJSON.stringify(whole, { relaxed: false }));
    }
  }
  return stored;
}

/** The paths of the documents that were added, changed or removed between two reads. */
export function changesBetween(before: StoredDocuments, after: StoredDocuments): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}

/**
 * Waits until every event is sent and handled, every change is in the audit log, and nothing is written any more. Returns what
 * is stored then.
 */
export async function storedWhenQuiet(system: System): Promise<StoredDocuments> {
  const bus = await openSystemBus(system);
  try {
    let last: StoredDocuments = new Map();
    const changes = async () => {
      const lags = await Promise.all(consumers.map((entry) => bus.lag(entry.name, listTopics(entry))));
      const read = await storedDocuments(system);
      const changed = changesBetween(last, read);
      last = read;
      const unsent = [...read].filter(([, document]) => /"outbox":\[[^\]]/.test(document)).map(([path]) => path);
      // A scheduled task appends changes to the audit log, up to 15 s after they were made.
      const unappended = [...read.keys()].filter((path) => path.includes('.auditPending/'));
      return { changed, unsent, unappended, lag: lags.reduce((sum, lag) => sum + lag, 0) };
    };
    const quiet = { changed: [], unsent: [], unappended: [], lag: 0 };
    await expect.poll(changes, { timeout: 60_000, interval: 300 }).toEqual(quiet);
    return last;
  } finally {
    await bus.close();
  }
}

const listTopics = (entry: ServiceEntry) => consumedTopics(entry).map(({ name }) => name);
const consumers = services.filter((entry) => listTopics(entry).length > 0);

function openSystemBus({ environment }: System): Promise<Bus> {
  const { bus } = sharedConfig(serviceNamed('tickets'), environment);
  if (!bus) throw new Error('the system has no bus');
  return openBus(bus, 'test', createLogger('test', 'silent'));
}
