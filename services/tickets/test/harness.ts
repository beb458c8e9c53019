import { randomBytes } from 'node:crypto';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { busVariables } from '@ticketing/testkit/bus-variables.ts';
import { type CheckedFetch, checkedFetch } from '@ticketing/testkit/checked-fetch.ts';
import { type TestIdentity, testCaller, testIdentity } from '@ticketing/testkit/test-identity.ts';
import mongoose from 'mongoose';
import { expect, inject, vi } from 'vitest';
import { type RunningTickets, startTickets } from '../src/service.ts';
import { setUp } from '../src/set-up.ts';
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
  /** Another instance than the harness's own. */
  url?: string;
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
  /** For what `request` cannot send; its responses are checked against the OpenAPI document too. */
  fetch: CheckedFetch;
  /** The stored document of a ticket. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every shape
  documentOf(id: number): Promise<any>;
  stop(): Promise<void>;
}

/** Starts a tickets service for one test file. */
export async function startHarness(
  settings: ReadSettings = defaultSettings,
  variables: Record<string, string> = {},
): Promise<TicketsHarness> {
  const sends = variables.TICKETING_TICKETS_ROLES?.includes('relay') ?? false;
  const identity = testIdentity();
  const uri = inject('mongodbUri');
  const databaseName = `test_${randomBytes(6).toString('hex')}`;
  const environment = {
    ...identity.environment('tickets'),
    TICKETING_TICKETS_GRPC_PORT: '0',
    TICKETING_TICKETS_MONGODB_URI: uri,
    TICKETING_TICKETS_MONGODB_DATABASE: databaseName,
    // Kafka only for those who send: its topics take a while to be made.
    ...busVariables('tickets', databaseName, uri, sends ? inject('kafkaBrokers') : []),
    // The schedule changes tickets by itself: who tests that, asks for it.
    TICKETING_TICKETS_ROLES: 'api',
    ...variables,
  };
  await setUp(environment);
  const service = await startInstance(environment, settings);
  const client = await mongoose.createConnection(uri, { dbName: databaseName }).asPromise();
  const url = `http://127.0.0.1:${service.ports.http}`;
  const database = client.getClient().db(databaseName);
  const fetch = checkedFetch(`${url}/openapi.json`);
  return {
    service,
    identity,
    url,
    environment,
    database,
    fetch,
    async request(method, path, { caller = {}, body, headers = {}, url: base = url } = {}) {
      const token = await identity.internalToken('tickets', testCaller(caller));
      const response = await fetch(base + path, {
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
    documentOf: (id) => database.collection<{ _id: number }>('tickets').findOne({ _id: id }),
    async stop() {
      await service.stop();
      await database.dropDatabase();
      await client.getClient().db(`${databaseName}_events`).dropDatabase();
      await client.close();
      identity.remove();
    },
  };
}

/** Starts an instance and waits until it is ready. */
export async function startInstance(
  environment: Record<string, string>,
  settings: ReadSettings = defaultSettings,
): Promise<RunningTickets> {
  const service = await startTickets(environment, settings);
  await vi.waitFor(
    async () => expect((await fetch(`http://127.0.0.1:${service.ports.http}/readyz`)).status).toBe(200),
    { timeout: 10_000, interval: 20 },
  );
  return service;
}

const volatile = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;

/** Compares a body, key by key and in order, with the one that is kept; times near now and trace ids are blanked. */
export async function golden(name: string, body: unknown): Promise<void> {
  const now = Date.now();
  const blank = (key: string, value: unknown) => {
    if (key === 'traceId') return '<trace>';
    const isNow = typeof value === 'string' && volatile.test(value) && now - Date.parse(`${value}Z`) < 600_000;
    return isNow ? '<now>' : value;
  };
  await expect(`${JSON.stringify(body, blank, 2)}\n`).toMatchFileSnapshot(`golden/${name}.json`);
}

/** What a refused request says of its parts, as `pointer code`, sorted. */
export function violationsOf(answer: Answer): string[] {
  const errors: { pointer: string; code: string }[] = answer.json.errors ?? [];
  return errors.map(({ pointer, code }) => `${pointer} ${code}`).sort();
}
