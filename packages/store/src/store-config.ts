import type { ConfigReader, TextRule } from '@ticketing/runtime/config-reader.ts';
import { mongo } from 'mongoose';

/** The database of a service. */
export interface StoreConfig {
  mongodbUri: string;
  database: string;
}

/** The rule for a MongoDB URI. The driver's own words are not repeated, as they may contain the password. */
export const mongodbUriRule: TextRule = { accepts: isMongodbUri, meaning: 'a MongoDB URI that the driver can parse' };

/** Reads the configuration of a service's database. */
export function readStoreConfig(from: ConfigReader, defaultDatabase: string): StoreConfig {
  return {
    mongodbUri: from.text('MONGODB_URI', mongodbUriRule),
    database: from.text('MONGODB_DATABASE', { default: defaultDatabase, pattern: /^\w{1,38}$/ }),
  };
}

/** Whether the driver can parse a URI. It connects only later. */
function isMongodbUri(text: string): boolean {
  try {
    new mongo.MongoClient(text);
    return true;
  } catch {
    return false;
  }
}
