import { runs } from '@ticketing/testkit/search-effort.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness();
});
afterAll(() => tickets.stop());

const post = (body: object, url?: string) =>
  tickets.request('POST', '/ticket', { body: { channel: 'email', ...body }, ...(url ? { url } : {}) });

// spec: 21.20
test('a known externalTicketId updates that ticket: absent fields keep their values, defaults are not applied again', async () => {
  const first = await post({ externalTicketId: 'a', subject: 'Eins', priority: 'high', status: 'pending' });
  const second = await post({ externalTicketId: 'a', subject: 'Zwei' });
  expect(second.status).toBe(200);
  expect(second.json).toMatchObject({
    id: first.json.id,
    subject: 'Zwei',
    priority: 'high',
    status: 'pending',
    version: 2,
  });
  const same = await post({ externalTicketId: 'a', subject: 'Zwei' });
  expect(same.json.version).toBe(2);
  expect((await tickets.documentOf(first.json.id)).outbox.map((event: { version: number }) => event.version)).toEqual([
    1, 2,
  ]);
});

test('an update is checked with the stored fields of the ticket: blind copies need an outgoing ticket', async () => {
  const mail = { externalTicketId: 'bcc', to: ['a@example.com'] };
  const blind = { ...mail, bcc: ['b@example.com'] };
  expect(violationsOf(await post(blind))).toEqual(['#/bcc not_allowed']);
  const outgoing = await post({ ...blind, direction: 'out' });
  expect(outgoing.json.bcc).toEqual(['b@example.com']);
  const again = await post({ ...mail, bcc: ['c@example.com'] });
  expect([again.status, again.json.bcc, again.json.direction]).toEqual([200, ['c@example.com'], 'out']);
  const incoming = await post({ ...mail, direction: 'in' });
  expect([incoming.status, incoming.json.bcc]).toEqual([200, []]);
  expect(violationsOf(await post(blind))).toEqual(['#/bcc not_allowed']);
});

const requests = runs(60, 200);
// spec: 21.20
test(`${requests} concurrent requests with one externalTicketId make one ticket, on two instances`, async () => {
  const other = await tickets.startInstance();
  try {
    const urls = [tickets.url, `http://127.0.0.1:${other.ports.http}`];
    const responses = await Promise.all(
      Array.from({ length: requests }, (_, index) =>
        post({ externalTicketId: 'b', subject: `Nummer ${index}` }, urls[index % 2]),
      ),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(responses.map(({ json }) => json.id)).size).toBe(1);
    const documents = await tickets.database.collection('tickets').find({ externalTicketId: 'b' }).toArray();
    expect(documents).toHaveLength(1);
    expect(documents[0]?.version).toBe(requests);
    expect(documents[0]?.outbox.map((event: { version: number }) => event.version)).toEqual(
      Array.from({ length: requests }, (_, index) => index + 1),
    );
  } finally {
    await other.stop();
  }
});

test('the next request creates the ticket of an external id that a crash left without one', async () => {
  await tickets.database
    .collection<{ _id: string; ticketId: number }>('externalIds')
    .insertOne({ _id: 'c', ticketId: 1_000_000 });
  const responses = await Promise.all([post({ externalTicketId: 'c' }), post({ externalTicketId: 'c' })]);
  expect(responses.map(({ json }) => json.id)).toEqual([1_000_000, 1_000_000]);
});

// spec: 6.6
test('ids are unique among instances, and not used again after a restart', async () => {
  const other = await tickets.startInstance();
  const urls = [tickets.url, `http://127.0.0.1:${other.ports.http}`];
  const created = await Promise.all(Array.from({ length: 200 }, (_, index) => post({}, urls[index % 2])));
  await other.stop();
  const again = await tickets.startInstance();
  created.push(await post({}, `http://127.0.0.1:${again.ports.http}`));
  await again.stop();
  const ids = created.map(({ json }) => json.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.at(-1)).toBe(Math.max(...ids));
});

// spec: 21.24
test('ids of successive creations have no gap', async () => {
  await vi.waitFor(
    async () => {
      const ids: number[] = [];
      for (let index = 0; index < 5; index++) ids.push((await post({})).json.id);
      const first = ids[0] as number;
      expect(ids).toEqual(ids.map((_, index) => first + index));
    },
    // Ids that earlier concurrent requests have reserved are dropped after a moment.
    { timeout: 30_000, interval: 300 },
  );
});
