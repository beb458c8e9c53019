import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { openDatabase } from '@ticketing/store/connection/database.ts';
import { services } from '@ticketing/system/services.ts';
import { sharedConfig } from '@ticketing/testkit/shared-config.ts';
import type { Connection } from 'mongoose';

/** A database of the system. */
export interface SystemDatabase {
  /** The folder of its copy: the name of its service, or `bus` for the embedded log of events. */
  name: string;
  uri: string;
  database: string;
}

/** Lists the databases of all services, and of the embedded log if there is one. */
export function systemDatabases(environment: Environment): SystemDatabase[] {
  const found = new Map<string, SystemDatabase>();
  for (const entry of services) {
    const { store, bus } = sharedConfig(entry, environment);
    if (store) found.set(entry.name, { name: entry.name, uri: store.mongodbUri, database: store.database });
    if (bus?.kind === 'log') found.set('bus', { name: 'bus', uri: bus.mongodbUri, database: bus.database });
  }
  return [...found.values()];
}

/** Opens a database, also one that is not set up, and closes it after `work`. Errors: it cannot be reached. */
export async function withDatabase<Result>(
  { uri, database }: SystemDatabase,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const unreachable = Promise.withResolvers<never>();
  const opened = openDatabase(uri, database, unreachable.reject, { isSetUpHere: true, quietMs: 0 });
  try {
    await Promise.race([opened.opened, unreachable.promise]);
    return await work(opened.connection);
  } finally {
    await opened.close();
  }
}
