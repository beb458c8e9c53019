import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';

/** The database of a service. */
export interface StoreConfig {
  mongodbUri: string;
  database: string;
}

/** The form of a MongoDB URI, for the configuration reader. */
export const mongodbUriRule = { pattern: /^mongodb(?:\+srv)?:\/\/\S+$/, meaning: 'a MongoDB URI' };

/** Reads the configuration of a service's database. */
export function readStoreConfig(from: ConfigReader, defaultDatabase: string): StoreConfig {
  return {
    mongodbUri: from.text('MONGODB_URI', mongodbUriRule),
    database: from.text('MONGODB_DATABASE', { default: defaultDatabase, pattern: /^\w{1,38}$/ }),
  };
}
