import { buildIndexes } from '@ticketing/service-kit/lifecycle/set-up-service.ts';
import { services } from '@ticketing/system/services.ts';
import mongoose, { type Connection } from 'mongoose';

/** An index that the set-up of a service creates. */
export interface RecordedIndex {
  service: string;
  collection: string;
  /** The fields, in their order. */
  fields: readonly string[];
  isUnique: boolean;
}

type Keys = Record<string, unknown>;

/** Returns all indexes that the set-ups of all services create, without a database. */
export async function recordIndexes(): Promise<RecordedIndex[]> {
  const recorded: RecordedIndex[] = [];
  for (const entry of services.filter(({ hasStore }) => hasStore)) {
    const connection = recordingConnection(entry.name, recorded);
    const module: unknown = await import(`../../services/${entry.name}/src/set-up-store.ts`);
    const { setUpStore } = module as { setUpStore(connection: Connection, isNew: boolean): Promise<void> };
    await buildIndexes(entry, connection, setUpStore, true);
  }
  return recorded;
}

/** A connection whose collections are empty, and record the indexes that are created. */
function recordingConnection(service: string, recorded: RecordedIndex[]): Connection {
  const connection = mongoose.createConnection();
  connection.collection = ((name: string) => {
    const note = (keys: Keys, options: { unique?: boolean } = {}) => {
      const shown = name.replace(/^rows\d+$/, 'rows<generation>');
      recorded.push({ service, collection: shown, fields: Object.keys(keys), isUnique: options.unique === true });
      return 'recorded';
    };
    return {
      createIndex: async (keys: Keys, options?: { unique?: boolean }) => note(keys, options),
      createIndexes: async (all: { key: Keys; unique?: boolean }[]) => all.map((one) => note(one.key, one)),
      findOne: async () => null,
    };
  }) as never;
  return connection;
}
