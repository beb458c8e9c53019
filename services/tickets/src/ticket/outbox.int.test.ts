import { runs } from '@ticketing/testkit/search-effort.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

interface StoredEvent {
  eventId: string;
  type: string;
  version: number;
  occurredAt: number;
  changes: { field: string; oldValue?: unknown; newValue?: unknown }[];
  actor: { profileId: number | null; kind: string };
  cause: string;
}

let tickets: TicketsHarness;
const tagIds: number[] = [];

beforeAll(async () => {
  tickets = await startHarness();
  for (const name of ['a', 'b', 'c']) {
    const { json } = await tickets.request('POST', '/tag', { caller: { roleId: 1 }, body: { name } });
    tagIds.push(json.id);
  }
});
afterAll(() => tickets.stop());

const post = (body: object) => tickets.request('POST', '/ticket', { body });
const eventsOf = async (id: number): Promise<StoredEvent[]> => (await tickets.documentOf(id)).outbox;

/** The fields whose values an event may contain: enums, ids and times. */
const fieldsWithValues = new Set([
  ...['direction', 'priority', 'channel', 'status', 'aiSupportLevel', 'spamStatus'],
  ...['subchannelId', 'partnerId', 'agentId', 'tagIds', 'createdBy', 'externalTicketId'],
  ...['createdAt', 'firstResponseDueBy', 'dueBy', 'lastMessageAt', 'lastCustomerMessageAt', 'closedAt'],
]);

test('the event of a creation lists the differences from a ticket without any values', async () => {
  const { json } = await post({
    channel: 'phone',
    subject: 'Anruf',
    from: '+49 30 1',
    to: ['+49 30 2'],
    status: 'closed',
    agentId: 12,
    tags: tagIds.slice(0, 2),
    dueBy: '2026-03-01',
    createdAt: '2026-02-01 08:00:00',
    body: 'Bitte um Rückruf',
    rawData: { a: 1 },
  });
  const [event, ...others] = await eventsOf(json.id);
  expect(others).toEqual([]);
  expect(event).toEqual({
    eventId: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
    type: 'ticket.created',
    version: 1,
    subchannelId: null,
    occurredAt: Date.parse(`${json.modifiedAt}Z`) / 1000,
    changes: expect.any(Array),
    actor: { profileId: 7, kind: 'user' },
    cause: 'request',
    traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/),
  });
  const changes = Object.fromEntries(event?.changes.map(({ field, ...values }) => [field, values]) ?? []);
  expect(changes).toEqual({
    from: {},
    to: {},
    subject: {},
    body: {},
    rawData: {},
    channel: { oldValue: null, newValue: 'phone' },
    status: { oldValue: 'open', newValue: 'closed' },
    agentId: { oldValue: null, newValue: 12 },
    tagIds: { oldValue: [], newValue: tagIds.slice(0, 2) },
    dueBy: { oldValue: null, newValue: '2026-03-01T00:00:00Z' },
    createdAt: { oldValue: null, newValue: '2026-02-01T08:00:00Z' },
    lastMessageAt: { oldValue: null, newValue: '2026-02-01T08:00:00Z' },
    lastCustomerMessageAt: { oldValue: null, newValue: '2026-02-01T08:00:00Z' },
    closedAt: { oldValue: null, newValue: `${json.modifiedAt.replace(' ', 'T')}Z` },
    createdBy: { oldValue: null, newValue: 7 },
  });
});

test('the event of an update lists the changes, and who made them', async () => {
  const body = { channel: 'phone', externalTicketId: 'e', subject: 'a', priority: 'low' };
  const { json } = await post(body);
  await tickets.request('POST', '/ticket', {
    caller: { profileId: 31, kind: 'serviceWorker' },
    body: { ...body, subject: 'b', priority: 'urgent', status: 'closed' },
  });
  const [, event] = await eventsOf(json.id);
  expect(event).toMatchObject({ type: 'ticket.updated', version: 2, actor: { profileId: 31, kind: 'serviceWorker' } });
  expect(event?.changes.map(({ field }) => field).sort()).toEqual(['closedAt', 'priority', 'status', 'subject']);
  expect(event?.changes).toContainEqual({ field: 'priority', oldValue: 'low', newValue: 'urgent' });
});

// guarantee: E2
test('after any writes, no event contains a text, and versions have no gaps', async () => {
  const secret = fc.stringMatching(/^[A-Z]{6,10}[0-9]{4}[a-zäöü]{4,8}$/);
  const change = fc.record(
    {
      subject: secret,
      body: secret.map((text) => `<p>${text}</p>`),
      from: secret,
      fromName: secret,
      to: fc.array(secret, { minLength: 1, maxLength: 3 }),
      cc: fc.array(secret, { minLength: 1, maxLength: 3 }),
      rawData: fc.dictionary(secret, secret, { minKeys: 1, maxKeys: 3 }),
      workitem: fc.dictionary(secret, secret, { minKeys: 1, maxKeys: 3 }),
      status: fc.constantFrom('open', 'pending', 'closed'),
      priority: fc.constantFrom('low', 'high'),
      channel: fc.constantFrom('phone', 'letter', 'system'),
      tags: fc.constantFrom(...[[0], [1, 2], [2]]).map((indexes) => indexes.map((index) => tagIds[index])),
    },
    { requiredKeys: ['channel'] },
  );
  let attempts = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 5 }), async (changes) => {
      attempts += 1;
      const versions: number[] = [];
      let id = 0;
      for (const body of changes) {
        const { json } = await post({ ...body, externalTicketId: `any ${attempts}` });
        id = json.id;
        versions.push(json.version);
      }
      const document = await tickets.documentOf(id);
      const events: StoredEvent[] = document.outbox;
      expect(events.map(({ version }) => version)).toEqual(events.map((_, index) => index + 1));
      expect(document.version).toBe(events.length);
      expect(versions.at(-1)).toBe(document.version);
      expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(events.length);
      const written = JSON.stringify(events).toLowerCase();
      for (const text of JSON.stringify(changes).match(/[A-Z]{6,10}[0-9]{4}[a-zäöü]{4,8}/g) ?? []) {
        expect(written).not.toContain(text.toLowerCase());
      }
      for (const { field, ...values } of events.flatMap((event) => event.changes)) {
        if (!fieldsWithValues.has(field)) expect(values).toEqual({});
      }
    }),
    { numRuns: runs(20, 300), endOnFailure: true },
  );
});
