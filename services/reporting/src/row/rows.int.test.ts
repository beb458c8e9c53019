import { Channel, Priority, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { TagType } from '@ticketing/contracts/ticketing/tickets/v1/tag_pb.ts';
import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ReportingHarness, startHarness, ticketChanged } from '../../test/harness.ts';

let reporting: ReportingHarness;

beforeAll(async () => {
  reporting = await startHarness();
});
afterAll(() => reporting.stop());

const at = (seconds: number) => ({ seconds: BigInt(seconds), nanos: 0 });
const toRow = async (id: number) =>
  (await reporting.rows(`&filters[0][key]=id&filters[0][comparator]==&filters[0][value]=${id}`))[0];

// spec: 14.1, 14.3, 14.5, 14.8, 14.9, 14.11, 14.12, 14.13, 14.14
test('a row has every column of the API, in its order', async () => {
  await reporting.putTag(1, 'Rechnung');
  await reporting.putTag(2, 'Mahnung', 1);
  await reporting.putTag(3, 'VIP', undefined, TagType.OTHER);
  reporting.model.messageCounts.set(1, [3, 2, 1]);
  await reporting.put(1, {
    channel: Channel.WALK_IN,
    status: TicketStatus.CLOSED,
    priority: Priority.URGENT,
    contractId: 'V-1',
    customerId: 'K-1',
    customerLegitimation: 15,
    tagIds: [3, 2],
    createdAt: at(1_700_000_000),
    modifiedAt: at(1_700_000_100),
    closedAt: at(1_700_000_090),
    dueBy: at(1_700_000_100),
    lastMessageAt: at(1_700_000_050),
    lastCustomerMessageAt: at(1_700_000_060),
    agent: { id: 7, email: 'ada@example.org' },
    subject: 'Hallo',
    rawData: { a: 1 },
  });
  const row = await toRow(1);
  expect(Object.keys(row)).toEqual([
    ...['id', 'channel', 'direction', 'status', 'priority', 'contractId', 'customerId', 'customerLegitimation'],
    ...[
      'topic',
      'subTopic',
      'allTags',
      'incomingMessages',
      'outgoingMessages',
      'internalMessages',
      'manualWorkEntries',
    ],
    ...['createdAt', 'modifiedAt', 'closedAt', 'dueBy', 'lastMessageAt', 'lastCustomerMessageAt'],
    ...['secondsSinceLastCustomerMessage', 'secondsToClose', 'secondsClosedAfterSLA', 'email', 'rawData'],
  ]);
  const { rawData, ...others } = row;
  expect(others).toEqual({
    ...{ id: 1, channel: 'walkIn', direction: 'in', status: 'closed', priority: 'urgent' },
    ...{ contractId: 'V-1', customerId: 'K-1', customerLegitimation: 15 },
    ...{ topic: 'Rechnung', subTopic: 'Mahnung', allTags: 'Mahnung, VIP' },
    ...{ incomingMessages: 3, outgoingMessages: 2, internalMessages: 1, manualWorkEntries: 0 },
    ...{ createdAt: '2023-11-14T22:13:20Z', modifiedAt: '2023-11-14T22:15:00Z', closedAt: '2023-11-14T22:14:50Z' },
    ...{ dueBy: '2023-11-14T22:15:00Z', lastMessageAt: '2023-11-14T22:14:10Z' },
    ...{ lastCustomerMessageAt: '2023-11-14T22:14:20Z', secondsSinceLastCustomerMessage: 30 },
    ...{ secondsToClose: 90, secondsClosedAfterSLA: -10, email: 'ada@example.org' },
  });
  expect(JSON.parse(rawData)).toMatchObject({ id: 1, version: 1, subject: 'Hallo', rawData: { a: 1 } });
});

// spec: 14.1, 14.5, 14.9, 14.10, 14.11, 14.13
test('unset columns are null, and the age of the last customer message is computed when the row is read', async () => {
  const now = Math.floor(Date.now() / 1000);
  const day = 24 * 3_600;
  await reporting.put(2, { lastCustomerMessageAt: at(now - day) });
  await reporting.put(3);
  const row = await toRow(2);
  expect(row.secondsSinceLastCustomerMessage).toBeGreaterThanOrEqual(day);
  expect(row.secondsSinceLastCustomerMessage).toBeLessThan(2 * day);
  expect(await toRow(3)).toMatchObject({
    ...{ topic: null, subTopic: null, allTags: null, closedAt: null, secondsSinceLastCustomerMessage: null },
    ...{ secondsToClose: null, secondsClosedAfterSLA: null, email: null, contractId: null },
  });
});

// spec: 14.2, 14.7
test('a change of the ticket changes its row', async () => {
  await reporting.put(4, { status: TicketStatus.OPEN });
  await reporting.put(4, { status: TicketStatus.PENDING, priority: Priority.HIGH });
  expect(await toRow(4)).toMatchObject({ status: 'pending', priority: 'high', manualWorkEntries: 1 });
});

// spec: 14.6
test('each message changes the counts of its row, by which rows are filtered and ordered', async () => {
  const shown = async (query: string) =>
    (await reporting.rows(`&filters[0][key]=customerId&filters[0][comparator]==&filters[0][value]=counts${query}`)).map(
      ({ id, incomingMessages }) => [id, incomingMessages],
    );
  for (const id of [60, 61, 62]) {
    reporting.model.messageCounts.set(id, [id === 61 ? 12 : 9, 0, 0]);
    await reporting.put(id, { customerId: 'counts' });
  }
  const order = '&orderByField=incomingMessages';
  expect(await shown(order)).toEqual([
    [61, 12],
    [62, 9],
    [60, 9],
  ]);
  reporting.model.messageCounts.set(60, [10, 0, 0]);
  await reporting.put(60);
  expect(await shown(`${order}&orderByDirection=asc`)).toEqual([
    [62, 9],
    [60, 10],
    [61, 12],
  ]);
  const moreThan = (count: number) =>
    shown(`&filters[1][key]=incomingMessages&filters[1][comparator]=>&filters[1][value]=${count}`);
  expect(await moreThan(9)).toEqual([
    [61, 12],
    [60, 10],
  ]);
  expect(await moreThan(10)).toEqual([[61, 12]]);
  const none = '&filters[1][key]=internalMessages&filters[1][comparator]==&filters[1][value]=0';
  expect(await shown(none)).toHaveLength(3);
});

// spec: 14.4
test('a renamed or moved tag shows in the rows of all tickets with this tag or a tag below it', async () => {
  await reporting.putTag(11, 'Technik');
  await reporting.putTag(12, 'Strom', 11);
  await reporting.putTag(13, 'Anderes');
  for (let id = 100; id < 140; id++) await reporting.model.put(id, { tagIds: id % 2 ? [12] : [13] });
  await reporting.bus.publish(
    ticketChangedTopic.name,
    Array.from({ length: 40 }, (_, index) => ticketChanged(100 + index, 1)),
  );
  const rows = () =>
    reporting.rows(
      '&filters[0][key]=id&filters[0][comparator]=between&filters[0][from]=100&filters[0][to]=139&orderByDirection=asc',
    );
  await expect.poll(async () => (await rows()).length).toBe(40);
  expect((await rows())[1]).toMatchObject({ topic: 'Technik', subTopic: 'Strom', allTags: 'Strom' });
  await reporting.putTag(11, 'Anlagen');
  await expect.poll(async () => (await rows())[39].topic).toBe('Anlagen');
  await reporting.putTag(12, 'Elektrik', 13);
  const expected = Array.from({ length: 40 }, (_, index) => (index % 2 ? ['Anderes', 'Elektrik'] : ['Anderes', null]));
  await expect.poll(async () => (await rows()).map(({ topic, subTopic }) => [topic, subTopic])).toEqual(expected);
  expect(JSON.parse((await rows())[1].rawData).tagIds).toEqual([12]);
});

// spec: 14.4
test('the topic is that of the skill tag with the lowest id; tags of other types have none', async () => {
  await reporting.putTag(21, 'Produkt', undefined, TagType.PRODUCT);
  await reporting.putTag(22, 'Zweite');
  await reporting.putTag(23, 'Dritte');
  await reporting.put(5, { tagIds: [23, 22, 21] });
  expect(await toRow(5)).toMatchObject({ topic: 'Zweite', subTopic: null, allTags: 'Produkt, Zweite, Dritte' });
  await reporting.put(5, { tagIds: [21] });
  expect(await toRow(5)).toMatchObject({ topic: null, subTopic: null, allTags: 'Produkt' });
});

// spec: 25.6, 25.10
// guarantee: E7
test('E7: the row of a deleted ticket is erased, the erasure is confirmed, and no later event restores the row', async () => {
  await reporting.put(6, { subject: 'Geheimnis' });
  await reporting.remove(6);
  expect(await toRow(6)).toBeUndefined();
  expect(reporting.model.confirmed).toContainEqual({ ticketId: 6, owner: 'reporting' });
  const left = await reporting.database.collection<{ _id: number }>('rows1').findOne({ _id: 6 });
  expect(left).toEqual({ _id: 6, version: 2, tagRevision: 0, erasedAt: expect.any(Date) });
  // Not even a tickets service that was restored from an old backup brings the row back.
  reporting.model.tickets.set(6, { version: 1, deleted: false, fields: { subject: 'Geheimnis' } });
  await reporting.bus.publish(ticketChangedTopic.name, [ticketChanged(6, 1)]);
  await reporting.put(7);
  await reporting.put(7);
  expect(await toRow(6)).toBeUndefined();
});

// guarantee: F8
test('while the tickets service is unavailable, events wait; none is lost', async () => {
  reporting.model.isUnavailable = true;
  const version = reporting.model.put(8, { subject: 'später' });
  await reporting.bus.publish(ticketChangedTopic.name, [ticketChanged(8, version)]);
  await expect.poll(() => reporting.model.refusedCalls).toBeGreaterThan(1);
  expect(await toRow(8)).toBeUndefined();
  reporting.model.isUnavailable = false;
  await expect.poll(async () => (await toRow(8))?.id).toBe(8);
});

test('metrics show the lag of the consumer', async () => {
  const metrics = await (await fetch(`http://127.0.0.1:${reporting.running.ports.internal}/metrics`)).text();
  for (const name of [
    'consumer_lag_seconds',
    'consumer_lag_messages',
    'consumer_blocked_keys',
    'consumer_restarts_total',
  ]) {
    expect(metrics).toMatch(new RegExp(`^${name}\\{.*group="reporting".*\\} [\\d.e-]+$`, 'm'));
  }
  expect(metrics).toMatch(/^consumer_blocked_keys\{.*\} 0$/m);
});

// guarantee: B8
test('tickets of which the tickets service returns only some at a time all get their rows', async () => {
  const ids = [9001, 9002, 9003, 9004, 9005];
  for (const id of ids) reporting.model.put(id, { subject: 'in parts' });
  reporting.model.maxSnapshots = 2;
  const messages = ids.map((id) => ticketChanged(id, 1));
  await reporting.bus.publish(ticketChangedTopic.name, messages);
  const rows = reporting.database.collection<{ _id: number }>('rows1');
  await expect.poll(() => rows.countDocuments({ _id: { $in: ids } })).toBe(ids.length);
  reporting.model.maxSnapshots = Number.POSITIVE_INFINITY;
});
