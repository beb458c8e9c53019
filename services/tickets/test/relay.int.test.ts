import { fromBinary, toJson } from '@bufbuild/protobuf';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { TicketChangedSchema } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { Bus, IncomingMessage } from '@ticketing/events/bus/bus.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;
let bus: Bus;
const received: IncomingMessage[] = [];
const admin = { roleId: 1 };

beforeAll(async () => {
  tickets = await startHarness({ variables: { ROLES: 'api,relay' } });
  bus = await tickets.openBus();
  await bus.subscribe({
    group: 'test',
    topics: [ticketChangedTopic.name, tagChangedTopic.name],
    onError: (error) => expect.unreachable(String(error)),
    async handle(messages, { acknowledge }) {
      for (const message of messages) {
        received.push(message);
        acknowledge(message);
      }
    },
  });
});
afterAll(async () => {
  await bus.close();
  await tickets.stop();
});

const messagesOf = (topic: string, id: number) =>
  received.filter((message) => message.topic === topic && message.key === String(id));

// spec: 38.1
// guarantee: E1, S6
test('every change of a ticket is published on the bus, in order, with the trace of its request', async () => {
  const traceparent = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`;
  const { json } = await tickets.request('POST', '/ticket', { body: { channel: 'phone' }, headers: { traceparent } });
  await tickets.request('PATCH', `/ticket/${json.id}`, { body: { status: 'closed' } });
  await tickets.request('DELETE', `/ticket/${json.id}`, { caller: admin });
  await expect.poll(() => messagesOf(ticketChangedTopic.name, json.id).length).toBe(3);
  const messages = messagesOf(ticketChangedTopic.name, json.id);
  expect(messages.map(({ headers }) => headers.ce_type)).toEqual([
    'ticket.created',
    'ticket.updated',
    'ticket.deleted',
  ]);
  expect(messages[0]?.headers).toMatchObject({
    ce_specversion: '1.0',
    ce_id: expect.stringMatching(/^evt_/),
    ce_source: 'ticketing/tickets',
    ce_subject: String(json.id),
    ce_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    'content-type': 'application/protobuf',
    traceparent: expect.stringMatching(new RegExp(`^00-${'c'.repeat(32)}-[0-9a-f]{16}-01$`)),
  });
  const [, updated, deleted] = messages.map(({ value }) =>
    toJson(TicketChangedSchema, fromBinary(TicketChangedSchema, value)),
  );
  expect(updated).toEqual({
    eventId: messages[1]?.headers.ce_id,
    type: 'TICKET_CHANGE_TYPE_TICKET_UPDATED',
    ticketId: json.id,
    version: 2,
    occurredAt: expect.any(String),
    changes: expect.arrayContaining([{ field: 'status', oldValue: 'open', newValue: 'closed' }]),
    actor: { profileId: 7, kind: 'user' },
    cause: 'CHANGE_CAUSE_REQUEST',
  });
  expect(deleted).toMatchObject({ version: 3, type: 'TICKET_CHANGE_TYPE_TICKET_DELETED' });
  await expect.poll(async () => (await tickets.documentOf(json.id)).outbox).toEqual([]);
});

test('every change of a tag is published on the bus', async () => {
  const { json } = await tickets.request('POST', '/tag', { caller: admin, body: { name: 'a tag' } });
  await tickets.request('PATCH', `/tag/${json.id}`, { caller: admin, body: { name: 'another' } });
  await tickets.request('DELETE', `/tag/${json.id}`, { caller: admin });
  await expect.poll(() => messagesOf(tagChangedTopic.name, json.id).length).toBe(3);
  const events = messagesOf(tagChangedTopic.name, json.id).map(({ value }) => fromBinary(TagChangedSchema, value));
  expect(events.map(({ version, deleted }) => [version, deleted])).toEqual([
    [1, false],
    [2, false],
    [3, true],
  ]);
});

test('events of an instance without the relay role are sent by one that has it', async () => {
  const other = await tickets.startInstance({ TICKETING_TICKETS_ROLES: 'api' });
  const url = `http://127.0.0.1:${other.ports.http}`;
  const { json } = await tickets.request('POST', '/ticket', { body: { channel: 'phone' }, url });
  await expect.poll(() => messagesOf(ticketChangedTopic.name, json.id).length).toBe(1);
  await other.stop();
});

test('metrics count the events that are not sent yet', async () => {
  const response = await fetch(`http://127.0.0.1:${tickets.running.ports.internal}/metrics`);
  const metrics = await response.text();
  for (const outbox of ['tickets', 'tags']) {
    expect(metrics).toMatch(new RegExp(`^outbox_pending\\{.*outbox="${outbox}".*\\} \\d+$`, 'm'));
    expect(metrics).toMatch(new RegExp(`^outbox_oldest_age_seconds\\{.*outbox="${outbox}".*\\} [\\d.e-]+$`, 'm'));
  }
});
