import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openEventSource } from '@ticketing/testkit/event-source.ts';
import { schemaChecker } from '@ticketing/testkit/schema-check.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from './harness.ts';

const eventTypes = [
  ...['ticket.created', 'ticket.updated', 'ticket.deleted'],
  ...['conversation.created', 'conversation.published', 'intent.executed'],
];

let system: System;
let authorization: string;
let receiver: Server;
/** The bodies of deliveries, as they arrived. */
const bodies: string[] = [];

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    bodies.push(Buffer.concat(await request.toArray()).toString('utf8'));
    response.writeHead(204).end();
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  system = await startSystem();
  authorization = `Bearer ${await system.identity.issuerToken({ roleId: 1 })}`;
});
afterAll(async () => {
  await system.stop();
  receiver.closeAllConnections();
  receiver.close();
});

// biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
async function call(method: string, path: string, body?: object): Promise<any> {
  const headers = { authorization, ...(body && { 'content-type': 'application/json' }) };
  const response = await system.fetch(system.url + path, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = await response.json();
  expect(response.ok, JSON.stringify(json)).toBe(true);
  return json;
}

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
const describedAt = async (path: string): Promise<any> => (await fetch(system.url + path)).json();

/** Makes an event of each type, about one ticket, with values of each kind. Returns the id of the ticket. */
async function liveATicket(): Promise<number> {
  const { slug: code } = await call('POST', '/aiAgent', { name: 'Close', executor: { type: 'closeTicket' } });
  const person = { externalTicketId: 'E-1', contractId: 'V-1', channelId: 'C-1' };
  const { id } = await call('POST', '/ticket', { channel: 'chat', from: 'kim@example.org', ...person });
  await call('PATCH', '/ticket', [{ id, customerId: 'K-1', agentId: 7, partnerId: 8 }]);
  await call('PATCH', `/ticket/${id}`, { status: 'pending', dueBy: '2030-01-31 09:10:00' });
  const content = { type: 'text', message: 'Hello' };
  await call('POST', `/ticket/${id}/conversation/reply`, { content });
  const draft = await call('POST', `/ticket/${id}/conversation/reply`, { content, isDraft: true });
  await call('PATCH', `/ticket/${id}/conversation/${draft.id}`, { isDraft: false });
  await call('POST', '/intent/0/execute', { code, ticketId: id });
  return id;
}

/** The texts in a value that begin like a time. */
function timesIn(value: unknown): string[] {
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\d/.test(value) ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(timesIn) : [];
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

// guarantee: W10
test('deliveries and the feed are as their documents say, with times in RFC 3339 and ids, until the ticket is deleted', async () => {
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const { id: webhookId } = await call('POST', '/webhook', { url: address });
  await call('POST', `/webhook/${webhookId}/test`);
  const ticketId = await liveATicket();
  const messages = () => bodies.map((body) => JSON.parse(body));
  const receivedTypes = () => [...new Set(messages().map(({ type }) => type))].sort();
  const beforeDeletion = [...eventTypes.filter((type) => type !== 'ticket.deleted'), 'webhook.test'];
  await expect.poll(receivedTypes).toEqual(beforeDeletion.sort());
  const ids = {
    externalTicketId: 'E-1',
    contractId: 'V-1',
    channelId: 'C-1',
    customerId: 'K-1',
    agentId: 7,
    partnerId: 8,
  };
  const changes = messages().flatMap(({ data }) => data.changes ?? []);
  for (const [field, newValue] of Object.entries(ids))
    expect(changes).toContainEqual({ field, oldValue: null, newValue });
  expect(changes).toContainEqual({ field: 'dueBy', oldValue: null, newValue: '2030-01-31T09:10:00Z' });

  await call('DELETE', `/ticket/${ticketId}`);
  await expect.poll(receivedTypes).toEqual([...eventTypes, 'webhook.test'].sort());
  const asyncApi = await describedAt('/asyncapi.json');
  const checkEvent = schemaChecker(asyncApi);
  for (const message of messages()) {
    const { payload } = asyncApi.components.messages[`webhook.${message.type}`];
    expect([message.type, checkEvent(payload, message)]).toEqual([message.type, []]);
    expect(timesIn(message).filter((time) => !rfc3339.test(time))).toEqual([]);
    expect(timesIn(message)).toContain(message.timestamp);
  }
  await expectFeedAsDescribed(asyncApi);
});

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
async function expectFeedAsDescribed(asyncApi: any): Promise<void> {
  const openApi = await describedAt('/openapi.json');
  const [checkEvent, checkPage] = [schemaChecker(asyncApi), schemaChecker(openApi)];
  const texts = async () => JSON.stringify(await call('GET', '/event?limit=500'));
  for (const id of ['"E-1"', '"V-1"', '"C-1"', '"K-1"']) await expect.poll(texts).not.toContain(id);
  const { events, next } = await call('GET', '/event?limit=500');
  const { schema } = openApi.paths['/event'].get.responses['200'].content['application/json'];
  expect(checkPage(schema, { events, next })).toEqual([]);
  const client = await openEventSource(`${system.url}/event`, { authorization });
  const streamed = [];
  for (const _ of events) streamed.push(JSON.parse((await client.nextData()).data ?? ''));
  client.close();
  expect(streamed).toEqual(events);
  expect([...new Set(streamed.map(({ type }) => type))].sort()).toEqual(eventTypes.sort());
  for (const event of streamed) {
    expect(checkEvent(asyncApi.components.messages.feedEvent.payload, event)).toEqual([]);
    expect(timesIn(event).filter((time) => !rfc3339.test(time))).toEqual([]);
    expect(timesIn(event)).toContain(event.occurredAt);
  }
}
