import { randomBytes } from 'node:crypto';
import type { Caller } from '@ticketing/service-kit/caller.ts';
import { type TestIdentity, testCaller, testIdentity } from '@ticketing/testkit/test-identity.ts';
import mongoose from 'mongoose';
import { inject } from 'vitest';
import { applyIndexes } from '../src/apply-indexes.ts';
import { type RunningTickets, startTickets } from '../src/service.ts';
import { defaultSettings, type ReadSettings } from '../src/settings.ts';

/** An answer of the REST face. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  json: any;
}

/** What a request of a test says beyond its method and path. */
export interface RequestOptions {
  caller?: Partial<Caller>;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A tickets service of its own, on a database of its own. */
export interface TicketsHarness {
  service: RunningTickets;
  identity: TestIdentity;
  url: string;
  environment: Record<string, string>;
  /** The database, to look at or to fill. */
  database: mongoose.mongo.Db;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts a tickets service for one test file. */
export async function startHarness(settings: ReadSettings = defaultSettings): Promise<TicketsHarness> {
  const identity = testIdentity();
  const uri = inject('mongodbUri');
  const databaseName = `test_${randomBytes(6).toString('hex')}`;
  const environment = {
    ...identity.environment('tickets'),
    TICKETING_TICKETS_GRPC_PORT: '0',
    TICKETING_TICKETS_MONGODB_URI: uri,
    TICKETING_TICKETS_MONGODB_DATABASE: databaseName,
  };
  await applyIndexes(environment);
  const service = await startTickets(environment, settings);
  const client = await mongoose.createConnection(uri, { dbName: databaseName }).asPromise();
  const url = `http://127.0.0.1:${service.ports.http}`;
  const database = client.getClient().db(databaseName);
  return {
    service,
    identity,
    url,
    environment,
    database,
    async request(method, path, { caller = {}, body, headers = {} } = {}) {
      const token = await identity.internalToken('tickets', testCaller(caller));
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) };
    },
    async stop() {
      await service.stop();
      await database.dropDatabase();
      await client.close();
      identity.remove();
    },
  };
}
