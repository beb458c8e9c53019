import { randomBytes } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { Bus, OutgoingMessage } from '@ticketing/events/bus/bus.ts';
import { openBus, readBusConfig } from '@ticketing/events/bus/bus-config.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { readConfig } from '@ticketing/runtime/config-reader.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { busVariables } from '@ticketing/testkit/bus-variables.ts';
import { type CheckedFetch, checkedFetch } from '@ticketing/testkit/checked-fetch.ts';
import { type TestIdentity, testCaller, testIdentity } from '@ticketing/testkit/test-identity.ts';
import mongoose from 'mongoose';
import { expect, inject, vi } from 'vitest';
import { type RunningReporting, startReporting } from '../src/service.ts';
import { setUp } from '../src/set-up.ts';
import { defaultSettings, type ReportingSettings } from '../src/settings.ts';
import { serveTickets, TicketModel } from './stub-tickets.ts';

/** An answer of the REST face. */
export interface Answer {
  status: number;
  headers: Headers;
  bytes: Buffer;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  json: any;
}

/** What a request of a test says beyond its path. */
export interface RequestOptions {
  caller?: Partial<Caller>;
  headers?: Record<string, string>;
  method?: string;
  url?: string;
}

/** A reporting service of its own, with a model in place of the tickets service, and a bus. */
export interface ReportingHarness {
  service: RunningReporting;
  identity: TestIdentity;
  url: string;
  environment: Record<string, string>;
  model: TicketModel;
  bus: Bus;
  settings: ReportingSettings;
  database: mongoose.mongo.Db;
  request(path: string, options?: RequestOptions): Promise<Answer>;
  /** For what `request` cannot send; its responses are checked against the OpenAPI document too. */
  fetch: CheckedFetch;
  /** Puts tickets into the model, tells of it, and waits until the rows show it. */
  put(id: number, fields?: Parameters<TicketModel['put']>[1]): Promise<void>;
  remove(id: number): Promise<void>;
  putTag(...tag: Parameters<TicketModel['putTag']>): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into rows of every shape
  rows(query?: string): Promise<any[]>;
  stop(): Promise<void>;
}

/** The right that exports need. */
export const reporter = { permissions: ['exportReporting'] };

/** The message of a change of a ticket. */
export function ticketChanged(
  ticketId: number,
  version: number,
  type: TicketChangeType = TicketChangeType.TICKET_UPDATED,
): OutgoingMessage {
  const eventId = timeOrderedId('evt');
  const value = create(TicketChangedSchema, { eventId, ticketId, version, type });
  const envelope = {
    id: eventId,
    type: 'ticket.updated',
    source: 'test',
    subject: String(ticketId),
    time: Math.floor(Date.now() / 1000),
  };
  return eventMessage(String(ticketId), envelope, toBinary(TicketChangedSchema, value));
}

/** The message of a change of a tag. */
export function tagChanged(tagId: number): OutgoingMessage {
  const eventId = timeOrderedId('evt');
  const envelope = {
    id: eventId,
    type: 'tag.changed',
    source: 'test',
    subject: String(tagId),
    time: Math.floor(Date.now() / 1000),
  };
  return eventMessage(
    String(tagId),
    envelope,
    toBinary(TagChangedSchema, create(TagChangedSchema, { eventId, tagId, version: 2 })),
  );
}

/** Starts a reporting service for one test file. */
export async function startHarness(variables: Record<string, string> = {}): Promise<ReportingHarness> {
  const identity = testIdentity();
  const uri = inject('mongodbUri');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const model = new TicketModel();
  const stub = await serveTickets(model);
  const environment = {
    ...identity.environment('reporting'),
    TICKETING_REPORTING_GRPC_PORT: '0',
    TICKETING_REPORTING_MONGODB_URI: uri,
    TICKETING_REPORTING_MONGODB_DATABASE: name,
    TICKETING_REPORTING_TICKETS_TARGET: stub.target,
    ...busVariables('reporting', name, uri, inject('kafkaBrokers')),
    ...variables,
  };
  const named = Object.entries(environment).filter(([variable]) => /KAFKA|EVENT_LOG/.test(variable));
  const bus = await openBus(
    readConfig(Object.fromEntries(named), 'TICKETING_REPORTING_', readBusConfig),
    'test',
    createLogger('test', 'silent'),
  );
  await bus.setUp([ticketChangedTopic, tagChangedTopic]);
  await setUp(environment);
  const settings = await defaultSettings();
  const service = await startInstance(environment, settings);
  const client = await mongoose.createConnection(uri, { dbName: name }).asPromise();
  const database = client.getClient().db(name);
  const url = `http://127.0.0.1:${service.ports.http}`;
  const fetch = checkedFetch(`${url}/openapi.json`);
  const harness: ReportingHarness = {
    ...{ service, identity, url, environment, model, bus, settings, database, fetch },
    async request(path, { caller = reporter, headers = {}, method = 'GET', url: base = url } = {}) {
      const token = await identity.internalToken('reporting', testCaller(caller));
      const response = await fetch(base + path, { method, headers: { authorization: `Bearer ${token}`, ...headers } });
      const bytes = Buffer.from(await response.arrayBuffer());
      const text = bytes.toString();
      const isJson = response.headers.get('content-type')?.includes('json') === true;
      return {
        status: response.status,
        headers: response.headers,
        bytes,
        text,
        json: isJson && text ? JSON.parse(text) : undefined,
      };
    },
    async rows(query = '') {
      const answer = await harness.request(`/export/reporting_tickets?format=json&limit=1000${query}`);
      expect(answer.status, answer.text).toBe(200);
      return answer.json;
    },
    async put(id, fields) {
      const version = model.put(id, fields);
      await bus.publish(ticketChangedTopic.name, [ticketChanged(id, version)]);
      await vi.waitFor(
        async () =>
          expect(
            (await database.collection<{ _id: number; version: number }>('rows1').findOne({ _id: id }))?.version,
          ).toBe(version),
        { timeout: 10_000, interval: 20 },
      );
    },
    async remove(id) {
      const version = model.delete(id);
      await bus.publish(ticketChangedTopic.name, [ticketChanged(id, version, TicketChangeType.TICKET_DELETED)]);
      await vi.waitFor(() => expect(model.confirmed.some(({ ticketId }) => ticketId === id)).toBe(true), {
        timeout: 10_000,
        interval: 20,
      });
    },
    async putTag(...tag) {
      const [id] = tag;
      model.putTag(...tag);
      await bus.publish(tagChangedTopic.name, [tagChanged(id)]);
    },
    async stop() {
      await service.stop();
      await bus.close();
      await stub.stop();
      await database.dropDatabase();
      await client.getClient().db(`${name}_events`).dropDatabase();
      await client.close();
      identity.remove();
    },
  };
  return harness;
}

/** Starts an instance and waits until it is ready. */
export async function startInstance(
  environment: Record<string, string>,
  settings: ReportingSettings,
): Promise<RunningReporting> {
  const service = await startReporting(environment, async () => settings);
  await vi.waitFor(
    async () => expect((await fetch(`http://127.0.0.1:${service.ports.http}/readyz`)).status).toBe(200),
    { timeout: 10_000, interval: 20 },
  );
  return service;
}
