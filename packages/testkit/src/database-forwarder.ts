import { inject } from 'vitest';
import { type Forwarder, openForwarder } from './forwarder.ts';

/** The database of the tests at another address, where it can be made unavailable. */
export interface DatabaseForwarder extends Forwarder {
  uri: string;
}

/** Opens a forwarder to the database of the tests. The test must close it. */
export async function openDatabaseForwarder(): Promise<DatabaseForwarder> {
  const target = new URL(inject('mongodbUri').replace('mongodb:', 'http:'));
  const forwarder = await openForwarder({ host: target.hostname, port: Number(target.port) });
  return { ...forwarder, uri: `mongodb://127.0.0.1:${forwarder.port}/?directConnection=true` };
}
