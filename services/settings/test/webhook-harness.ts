import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  ChangeCause,
  TicketChangedSchema,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { Bus } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { TestResponse } from '@ticketing/testkit/send-request.ts';
import {
  type HarnessOptions,
  type HarnessRequest,
  type ServiceHarness,
  startServiceHarness,
} from '@ticketing/testkit/service-harness.ts';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { service } from '../src/service.ts';
import { type StubModel, serveCalled } from './stub-called.ts';

/** The fields of an event that a test chooses. */
export type EventFields = Omit<MessageInitShape<typeof TicketChangedSchema>, '$typeName'> & { ticketId: number };

/** A settings service with a stub of the tickets service, a bus, and a clock that the test moves. */
export interface WebhookHarness extends Omit<ServiceHarness, 'request'> {
  bus: Bus;
  /** The tickets whose erasure was confirmed. */
  confirmed: number[];
  /** How far the clock of the service is ahead, in ms. */
  clock: { aheadMs: number };
  /** Moves the clock to a time, or by ms, and wakes the dispatcher. */
  moveClock(to: { time: string } | { byMs: number }): Promise<void>;
  request(method: string, path: string, body?: unknown, request?: HarnessRequest): Promise<TestResponse>;
  /** Creates an endpoint; returns its JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  createWebhook(fields: Record<string, unknown>): Promise<any>;
  /** Publishes changes of tickets; returns the ids of the events. */
  publish(...events: EventFields[]): Promise<string[]>;
  /** The only delivery to an endpoint, when it has a status, or another number of attempts. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  delivery(webhookId: number, expected: { status?: string; attempts?: number }): Promise<any>;
  /** The deliveries to an endpoint, the oldest event first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  deliveries(webhookId: number, query?: string): Promise<any[]>;
}

/** A caller with the right that webhooks require. */
export const webhookManager = { permissions: ['manageWebhooks'] };

/** Starts a settings service for one test file. */
export async function startWebhookHarness(options: HarnessOptions<unknown> = {}): Promise<WebhookHarness> {
  const clock = { aheadMs: 0 };
  const model: StubModel = { tagIds: new Set(), emailTemplateIds: new Set(), confirmed: [], isUnavailable: false };
  const stub = await serveCalled(model);
  const harness = await startServiceHarness(service, {
    calledPorts: { grpc: stub.port },
    publishes: [ticketChangedTopic],
    // Without jitter, so that times can be compared.
    runtime: { ...systemRuntime, now: () => Date.now() + clock.aheadMs, random: () => 0.5 },
    ...options,
  });
  const bus = await harness.openBus();
  const request: WebhookHarness['request'] = (method, path, body, given = {}) =>
    harness.request(method, path, {
      caller: webhookManager,
      ...(body === undefined ? {} : { body }),
      ...given,
    });
  const deliveries: WebhookHarness['deliveries'] = async (webhookId, query = '') => {
    const response = await request('GET', `/webhook/${webhookId}/delivery?limit=1000${query}`);
    expect(response.status, response.text).toBe(200);
    // Deliveries of one moment are listed in any order; the ids of the test's events are in the order of the events.
    return response.json.deliveries.toSorted(byEventId);
  };
  return {
    ...harness,
    bus,
    confirmed: model.confirmed,
    clock,
    request,
    async createWebhook(fields) {
      const response = await request('POST', '/webhook', fields);
      expect(response.status, response.text).toBe(201);
      return response.json;
    },
    async publish(...events) {
      const messages = events.map(changeMessage);
      await bus.publish(
        ticketChangedTopic.name,
        messages.map(({ message }) => message),
      );
      return messages.map(({ eventId }) => eventId);
    },
    deliveries,
    async delivery(webhookId, { status, attempts }) {
      const isExpected = async () => {
        const found = await deliveries(webhookId);
        expect(found).toHaveLength(1);
        if (status !== undefined) expect(found[0].status).toBe(status);
        if (attempts !== undefined) expect(found[0].attempts).toHaveLength(attempts);
        return found[0];
      };
      return vi.waitFor(isExpected, { timeout: 30_000, interval: 20 });
    },
    async moveClock(to) {
      if ('byMs' in to) clock.aheadMs += to.byMs;
      else clock.aheadMs = Date.parse(to.time) - Date.now();
      // A change of any endpoint wakes the dispatcher.
      const [webhook] = (await request('GET', '/webhook')).json.webhooks;
      if (webhook) await request('PATCH', `/webhook/${webhook.id}`, {});
    },
    async stop() {
      await bus.close();
      await harness.stop();
      await stub.stop();
    },
  };
}

/** A harness and a receiver for one test file, and the response of the receiver. */
export interface ReceiverForTests {
  harness: WebhookHarness;
  receiver: Receiver;
  response: ReceiverResponse;
}

/** Starts both before the tests of a file. After each test there are no endpoints, and nothing was received. */
export function receiverForTests(): ReceiverForTests {
  const used = { response: { status: 204 } } as ReceiverForTests;
  beforeAll(async () => {
    used.harness = await startWebhookHarness();
    used.receiver = await startReceiver(() => used.response);
  });
  afterEach(async () => {
    for (const { id } of (await used.harness.request('GET', '/webhook')).json.webhooks) {
      await used.harness.request('DELETE', `/webhook/${id}`);
    }
    used.receiver.received.length = 0;
    used.response = { status: 204 };
    used.harness.clock.aheadMs = 0;
  });
  afterAll(async () => {
    await used.harness.stop();
    await used.receiver.stop();
  });
  return used;
}

let lastEvent = 0;

function byEventId(left: { eventId: string }, right: { eventId: string }): number {
  return left.eventId < right.eventId ? -1 : 1;
}

function changeMessage({ ticketId, ...fields }: EventFields) {
  const time = Math.floor(Date.now() / 1000);
  const event = create(TicketChangedSchema, {
    eventId: `evt_${String(++lastEvent).padStart(6, '0')}`,
    type: TicketChangeType.TICKET_UPDATED,
    version: 1,
    cause: ChangeCause.REQUEST,
    occurredAt: toTimestamp(time),
    actor: { kind: 'user', profileId: 7 },
    ticketId,
    ...fields,
  });
  const { eventId } = event;
  const envelope = { id: eventId, type: 'ticket.updated', source: 'test', subject: String(ticketId), time };
  return { eventId, message: eventMessage(String(ticketId), envelope, toBinary(TicketChangedSchema, event)) };
}

/** A request that a receiver has got. */
export interface ReceivedRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  json: any;
  at: number;
}

/** A server of a customer. */
export interface Receiver {
  url: string;
  received: ReceivedRequest[];
  /** How many requests it is handling, and the most there were. */
  load: { now: number; most: number };
  /** How many connections are open. */
  open(): number;
  stop(): Promise<void>;
}

/** The response of a receiver. */
export interface ReceiverResponse {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** Starts a receiver of webhooks on a free port, by default one that always responds with 204. */
export async function startReceiver(
  respond: (request: ReceivedRequest) => ReceiverResponse | Promise<ReceiverResponse> = () => ({ status: 204 }),
): Promise<Receiver> {
  const received: ReceivedRequest[] = [];
  const load = { now: 0, most: 0 };
  const server = http.createServer(async (incoming, outgoing) => {
    load.now += 1;
    load.most = Math.max(load.most, load.now);
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    const headers = incoming.headers as Record<string, string>;
    const request = { path: incoming.url ?? '', headers, body, json: JSON.parse(body), at: Date.now() };
    received.push(request);
    const response = await respond(request);
    load.now -= 1;
    outgoing.writeHead(response.status, response.headers).end(response.body);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    load,
    open: () => sockets.size,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
