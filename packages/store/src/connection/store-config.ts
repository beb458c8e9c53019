import type { ConfigReader, TextRule } from '@ticketing/runtime/config-reader.ts';
import { mongo } from 'mongoose';

/** The database of a service. */
export interface StoreConfig {
  mongodbUri: string;
  database: string;
  /** The free space of its disk that is kept; undefined for the default. */
  reserveBytes: number | undefined;
}

/** The rule for a MongoDB URI. The driver's own words are not repeated, as they may contain the password. */
export const mongodbUriRule: TextRule = { accepts: isMongodbUri, meaning: 'a MongoDB URI that the driver can parse' };

const mib = 1024 * 1024;
const maxReserveMib = 1024 * 1024;

/** Reads the configuration of a service's database. */
export function readStoreConfig(from: ConfigReader, service: string): StoreConfig {
  return {
    mongodbUri: from.text('MONGODB_URI', mongodbUriRule),
    database: from.text('MONGODB_DATABASE', { default: `ticketing_${service}`, pattern: /^\w{1,38}$/ }),
    reserveBytes: readReserve(from),
  };
}

/** Returns the addresses of the servers that a URI names, without its credentials. */
export function describeServer(uri: string): string {
  const { srvHost, hosts } = new mongo.MongoClient(uri).options;
  return srvHost ?? hosts.map(String).join(', ');
}

function readReserve(from: ConfigReader): number | undefined {
  const mibs = from.integer('STORE_RESERVE_MIB', { default: -1, min: 0, max: maxReserveMib });
  return mibs < 0 ? undefined : mibs * mib;
}

/** A user of a database server. */
export interface DatabaseUser {
  name: string;
  password: string;
  /** The database in which the server looks for the user. */
  source: string;
}

/**
 * Returns the user of the server as whom a URI connects; undefined if it names none with a password, or one of another
 * system.
 */
export function readDatabaseUser(uri: string): DatabaseUser | undefined {
  const { username: name, password, source } = new mongo.MongoClient(uri).options.credentials ?? {};
  return name && password && source && source !== '$external' ? { name, password, source } : undefined;
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
