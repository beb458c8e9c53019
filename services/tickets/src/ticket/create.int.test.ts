import { golden } from '@ticketing/testkit/golden.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;
let tagId: number;

beforeAll(async () => {
  tickets = await startHarness();
  const tag = await tickets.request('POST', '/tag', { caller: { roleId: 1 }, body: { name: 'Zähler' } });
  tagId = tag.json.id;
});
afterAll(() => tickets.stop());

const post = (body: unknown, query = '') => tickets.request('POST', `/ticket${query}`, { body });
const pointers = (response: { json: { errors: { pointer: string; code: string }[] } }) =>
  response.json.errors.map(({ pointer, code }) => `${pointer} ${code}`).sort();

// spec: 6.7, 6.14, 6.22, 6.25, 6.26, 6.28, 6.29, 6.30, 17.1, 21.12, 21.23, 21.24, 21.29
test('creates a ticket from only a channel, with all defaults', async () => {
  const created = await post({ channel: 'email' });
  expect(created.status).toBe(200);
  expect(created.headers.get('etag')).toBe('"1"');
  await golden('create-minimal', created.json);
});

// spec: 6.2, 6.5, 6.11, 6.21, 6.39, 6.52, 6.57, 6.58, 20.1, 20.14, 21.7, 21.18, 21.21, 23.5
test('creates a ticket from every field that a request may have', async () => {
  const created = await post(
    {
      channel: 'email',
      direction: 'out',
      from: 'desk@example.com',
      fromName: 'Service Desk',
      agentId: 12,
      to: ['kim@example.com'],
      cc: ['lee@example.com'],
      bcc: ['max@example.com'],
      priority: 'high',
      status: 'pending',
      subject: 'Ihr Zählerstand',
      body: '<p>Guten Tag,</p><script>alert(1)</script><p>alles gut.</p>',
      createdAt: '2026-01-31 08:15:00',
      firstResponseDueBy: '2026-02-01T10:00:00+01:00',
      dueBy: 1_770_000_000,
      tags: [tagId],
      contractId: 'C-1',
      externalTicketId: 'ext-golden',
      rawData: { 'a.b': { $x: [1, null] } },
      workitem: { id: 'w1' },
    },
    '?includeRawData=true&process=false',
  );
  expect(created.status).toBe(200);
  await golden('create-full', created.json);
  const got = await tickets.request('GET', `/ticket/${created.json.id}?includeRawData=true`);
  await golden('get-full', got.json);
  const short = await tickets.request('GET', `/ticket/${created.json.id}?includeSessions=false`);
  expect(Object.keys(got.json).filter((key) => !(key in short.json))).toEqual(['rawData', 'sessions']);
  const found = await tickets.request('POST', '/ticket/search', {
    body: { filters: [{ key: 'externalTicketId', comparator: '=', value: 'ext-golden' }] },
  });
  await golden('search', found.json);
  const document = await tickets.documentOf(created.json.id);
  expect(document?.process).toBe('false');
  expect(document?.body).toContain('<script>');
});

// spec: 6.55
test('returns rawData as null if it is requested and the ticket has none', async () => {
  const { json } = await post({ channel: 'chat' });
  const got = await tickets.request('GET', `/ticket/${json.id}?includeRawData=true`);
  expect(got.json.rawData).toBeNull();
});

// spec: 21.6
test('reads null as absent', async () => {
  const created = await post({ channel: 'portal', from: null, agentId: null, tags: null, status: null, dueBy: null });
  expect(created.status).toBe(200);
  expect(created.json).toMatchObject({ from: null, agentId: null, tagIds: [], status: 'open' });
});

test('reports every problem of a body at once', async () => {
  const refused = await post({
    channel: 'fax',
    id: 4,
    createdBy: 3,
    colour: 'red',
    dueBy: '2026-02-30',
    to: 'kim@example.com',
    priority: 3,
    tags: [0, 'x'],
    subject: 'x'.repeat(999),
    templateId: 0,
  });
  expect(refused.status).toBe(400);
  expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(pointers(refused)).toEqual([
    '#/channel not_allowed',
    '#/colour unknown_field',
    '#/createdBy read_only_field',
    '#/dueBy invalid_date',
    '#/id read_only_field',
    '#/priority wrong_type',
    '#/subject too_long',
    '#/tags/0 out_of_range',
    '#/tags/1 wrong_type',
    '#/templateId out_of_range',
    '#/to wrong_type',
  ]);
});

// spec: 6.32, 21.13
test('accepts a text at its limit and refuses one above', async () => {
  expect((await post({ channel: 'phone', subject: 'ä'.repeat(998), contractId: 'c'.repeat(50) })).status).toBe(200);
  expect(pointers(await post({ channel: 'phone', contractId: 'c'.repeat(51) }))).toEqual(['#/contractId too_long']);
  const mebi = 1024 * 1024;
  expect((await post({ channel: 'phone', body: 'x'.repeat(5 * mebi) })).status).toBe(200);
  expect(pointers(await post({ channel: 'phone', body: 'x'.repeat(5 * mebi + 1) }))).toEqual(['#/body too_long']);
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
  expect((await post({ channel: 'phone', rawData: nested(32) })).status).toBe(200);
  expect(pointers(await post({ channel: 'phone', rawData: nested(33) }))).toEqual(['#/rawData too_deep']);
});

// spec: 21.18
test('refuses a tag that does not exist and creates nothing', async () => {
  const before = await tickets.database.collection('tickets').countDocuments();
  expect(pointers(await post({ channel: 'email', tags: [tagId, 9999] }))).toEqual(['#/tags/1 unknown_tag']);
  expect(await tickets.database.collection('tickets').countDocuments()).toBe(before);
});

describe('the addresses', () => {
  // spec: 6.8, 6.12, 21.6, 21.10
  test('must be e-mail addresses on the channels email and portal', async () => {
    expect(pointers(await post({ channel: 'email', from: 'kim', to: ['+49 30 1'] }))).toEqual([
      '#/from invalid_format',
      '#/to/0 invalid_format',
    ]);
    expect((await post({ channel: 'phone', from: '+49 30 1' })).status).toBe(200);
  });
  // spec: 6.9
  test('of the sender are removed on channel system', async () => {
    expect((await post({ channel: 'system', from: 'cron' })).json).toMatchObject({ from: null, replyRecipients: null });
  });
  // spec: 6.13, 21.11
  test('of blind copies are allowed for outgoing e-mail only', async () => {
    expect(pointers(await post({ channel: 'email', bcc: ['kim@example.com'] }))).toEqual(['#/bcc not_allowed']);
  });
});

describe('the times of a new ticket', () => {
  // spec: 6.41
  test('are set by a creation with a body', async () => {
    const { json } = await post({ channel: 'email', body: 'Hi', createdAt: '2026-03-01' });
    expect(json).toMatchObject({
      createdAt: '2026-03-01 00:00:00',
      lastMessageAt: '2026-03-01 00:00:00',
      lastCustomerMessageAt: '2026-03-01 00:00:00',
    });
  });
  test('are null without a body; that of the customer is set for incoming tickets only', async () => {
    expect((await post({ channel: 'email' })).json).toMatchObject({ lastMessageAt: null, lastCustomerMessageAt: null });
    const { json } = await post({ channel: 'email', direction: 'out', body: 'Hi' });
    expect(json.lastMessageAt).not.toBeNull();
    expect(json.lastCustomerMessageAt).toBeNull();
  });
  test('include closedAt if the ticket is created closed', async () => {
    const { json } = await post({ channel: 'email', status: 'closed' });
    expect(json.closedAt).toBe(json.modifiedAt);
  });
});

test('stores exactly one event with the change, and no text in it', async () => {
  const { json } = await post({
    channel: 'email',
    subject: 'Geheimwort',
    body: 'Geheimwort',
    from: 'geheim@example.com',
  });
  const document = await tickets.documentOf(json.id);
  expect(document?.outbox).toHaveLength(1);
  expect(document?.outbox[0]).toMatchObject({
    type: 'ticket.created',
    version: 1,
    actor: { profileId: 7, kind: 'user' },
    cause: 'request',
  });
  expect(document?.outbox[0].changes).toContainEqual({ field: 'channel', oldValue: null, newValue: 'email' });
  expect(JSON.stringify(document?.outbox)).not.toMatch(/geheim/i);
});

// spec: 23.1, 39.2, 39.7
test('responds with 404 for a ticket that does not exist, and with 400 for an invalid id', async () => {
  const missing = await tickets.request('GET', '/ticket/2000000000');
  expect(missing.status).toBe(404);
  await golden('problem-404', missing.json);
  for (const id of ['0', '-1', 'abc', '1.5', '2147483648']) {
    expect((await tickets.request('GET', `/ticket/${id}`)).status).toBe(400);
  }
});

test('responds with 405 and the methods that a path accepts', async () => {
  const refused = await tickets.request('PUT', '/ticket/1', { body: {} });
  expect(refused.status).toBe(405);
  expect(refused.headers.get('allow')).toBe('GET, HEAD, PATCH, DELETE');
});
