import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';

/** Where a service keeps what it owns. */
export interface StoreConfig {
  mongodbUri: string;
  database: string;
}

/** What a URI of MongoDB looks like. */
export const mongodbUriRule = { pattern: /^mongodb(?:\+srv)?:\/\/\S+$/, meaning: 'a MongoDB URI' };

/** Reads where a service keeps what it owns. */
export function readStoreConfig(from: ConfigReader, defaultDatabase: string): StoreConfig {
  return {
    mongodbUri: from.text('MONGODB_URI', mongodbUriRule),
    database: from.text('MONGODB_DATABASE', { default: defaultDatabase, pattern: /^\w{1,38}$/ }),
  };
}
