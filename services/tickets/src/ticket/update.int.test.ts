import { golden } from '@ticketing/testkit/golden.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import type { TestResponse } from '@ticketing/testkit/send-request.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;
let tags: number[];

beforeAll(async () => {
  tickets = await startHarness();
  tags = [];
  for (const name of ['Strom', 'Gas', 'Wasser']) {
    tags.push((await tickets.request('POST', '/tag', { caller: { roleId: 1 }, body: { name } })).json.id);
  }
});
afterAll(() => tickets.stop());

const post = async (body: object = {}): Promise<number> =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'chat', ...body } })).json.id;
const patch = (id: number, body: object, query = '', headers: Record<string, string> = {}): Promise<TestResponse> =>
  tickets.request('PATCH', `/ticket/${id}${query}`, { body, headers });
const get = async (id: number) => (await tickets.request('GET', `/ticket/${id}`)).json;
const eventsOf = async (id: number) => (await tickets.documentOf(id)).outbox.slice(1);

describe('PATCH /ticket/{ticketId}', () => {
  // spec: 2.5, 6.69, 24.2, 24.3, 24.5, 24.6, 24.7
  test('sets every field that the API names, and returns the full ticket and its ETag', async () => {
    const id = await post({ subject: 'Zähler', tags: [tags[0]] });
    const response = await patch(id, {
      contractId: 'V-1',
      status: 'pending',
      workedOnBy: 12,
      priority: 'urgent',
      dueBy: '2030-01-31 10:00:00',
      firstResponseDueBy: '2030-01-30T10:00:00+02:00',
      tagIds: [tags[2], tags[1]],
    });
    expect([response.status, response.headers.get('etag')]).toEqual([200, '"2"']);
    await golden('patch-full', response.json);
    const { sessions, prevTicketId, nextTicketId, ...read } = await get(id);
    expect([sessions, typeof prevTicketId, typeof nextTicketId]).toEqual([[], 'object', 'object']);
    expect(response.json).toEqual({ success: true, ticket: read });
  });

  // spec: 24.2
  test('keeps fields that are absent, clears fields that are null', async () => {
    const id = await post({ contractId: 'V-2', dueBy: '2030-01-01', priority: 'high', tags: [tags[0]] });
    await patch(id, { dueBy: null });
    expect(await get(id)).toMatchObject({ contractId: 'V-2', dueBy: null, priority: 'high', tagIds: [tags[0]] });
    await patch(id, { contractId: null, tagIds: [] });
    expect(await get(id)).toMatchObject({ contractId: null, tagIds: [], version: 3 });
  });

  // spec: 24.3
  test('refuses null for a field that cannot be cleared, unknown fields and fields that cannot be written', async () => {
    const id = await post();
    const refused = await patch(id, {
      status: null,
      priority: null,
      tagIds: null,
      subject: 'x',
      createdAt: '2026-01-01',
      id: 5,
      fax: 1,
    });
    expect(refused.status).toBe(400);
    expect(violationsOf(refused)).toEqual([
      '#/createdAt read_only_field',
      '#/fax unknown_field',
      '#/id read_only_field',
      '#/priority null_not_allowed',
      '#/status null_not_allowed',
      '#/subject read_only_field',
      '#/tagIds null_not_allowed',
    ]);
    expect((await get(id)).version).toBe(1);
  });

  test('refuses a tag that does not exist, and changes nothing', async () => {
    const id = await post();
    const refused = await patch(id, { priority: 'high', tagIds: [tags[0], 999_999] });
    expect([refused.status, violationsOf(refused)]).toEqual([400, ['#/tagIds/1 unknown_tag']]);
    expect(await get(id)).toMatchObject({ priority: 'low', version: 1 });
  });

  // spec: 39.8
  test('is 404 for a ticket that does not exist', async () => {
    expect((await patch(1_999_999, { priority: 'high' })).json).toMatchObject({
      status: 404,
      title: 'Ticket not found',
    });
  });
});

describe('a change of the status', () => {
  const statuses = ['open', 'pending', 'closed'];
  test.each(statuses.flatMap((from) => statuses.map((to) => [from, to] as const)))(
    // spec: 17.3, 17.10
    'from %s to %s is saved and published, even if the status stays the same',
    async (from, to) => {
      const id = await post({ status: from });
      const { json } = await patch(id, { status: to });
      expect(json.ticket).toMatchObject({ status: to, version: 2 });
      const [event] = await eventsOf(id);
      const changed = from === to ? [] : expect.arrayContaining([{ field: 'status', oldValue: from, newValue: to }]);
      expect(event).toMatchObject({ type: 'ticket.updated', version: 2, cause: 'request', changes: changed });
    },
  );

  test('a PATCH without a status in which no value differs makes no version and no event', async () => {
    const id = await post({ priority: 'high', tags: [tags[0]] });
    const { json } = await patch(id, { priority: 'high', tagIds: [tags[0]], dueBy: null });
    expect(json.ticket.version).toBe(1);
    expect(await eventsOf(id)).toEqual([]);
  });

  // spec: 6.62
  test('to closed sets closedAt once; a change to another status clears it', async () => {
    const id = await post();
    expect((await patch(id, { status: 'closed' })).json.ticket.closedAt).toMatch(/^\d{4}-/);
    const { closedAt } = await tickets.documentOf(id);
    const anHourEarlier = new Date(closedAt.getTime() - 3_600_000);
    const stored = tickets.database.collection<{ _id: number }>('tickets');
    await stored.updateOne({ _id: id }, { $set: { closedAt: anHourEarlier } });
    const again = await patch(id, { status: 'closed' });
    expect(again.json.ticket.closedAt).toBe(anHourEarlier.toISOString().slice(0, 19).replace('T', ' '));
    expect((await patch(id, { status: 'open' })).json.ticket.closedAt).toBeNull();
  });
});

describe('If-Match', () => {
  test.each([
    ['"1"', 200],
    ['*', 200],
    ['"7", "1"', 200],
    ['"2"', 412],
    ['W/"1"', 412],
    ['1', 412],
    ['', 412],
  ])('%s of a ticket in version 1: status %i', async (ifMatch, status) => {
    const id = await post();
    const response = await patch(id, { priority: 'high' }, '', { 'if-match': ifMatch });
    expect([response.status, (await get(id)).version]).toEqual([status, status === 200 ? 2 : 1]);
    if (status === 412) expect(response.json.code).toBe('stale_version');
  });

  test('accepts exactly one of many PATCHes for the same version', async () => {
    const id = await post();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => patch(id, { contractId: `V${index}` }, '', { 'if-match': '"1"' })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(412)]);
  });
});

describe('the worklog', () => {
  const kinds = [
    ['user', true],
    ['vendor', true],
    ['vendorPartner', true],
    ['serviceWorker', false],
    ['codeExecutor', false],
    ['system', false],
  ] as const;
  // spec: 14.7
  test.each(kinds)('counts a change by a profile of kind %s: %s', async (kind, counts) => {
    const id = await post();
    const caller = { kind, profileId: 31 };
    await tickets.request('PATCH', `/ticket/${id}`, { caller, body: { priority: 'high', contractId: 'V' } });
    const { worklog, manualWorkEntries } = await tickets.documentOf(id);
    expect(manualWorkEntries).toBe(counts ? 1 : 0);
    expect(worklog).toEqual(
      counts
        ? [{ profileId: 31, at: expect.any(Date), fields: ['priority', 'contractId', 'customerLegitimation'] }]
        : [],
    );
  });

  // spec: 24.1
  test('leaves out PATCHes with includeInWorklog=false, and those that change nothing', async () => {
    const id = await post();
    await patch(id, { priority: 'high' }, '?includeInWorklog=false');
    await patch(id, { priority: 'high' });
    expect(await tickets.documentOf(id)).toMatchObject({ version: 2, worklog: [], manualWorkEntries: 0 });
    await patch(id, { priority: 'low' }, '?includeInWorklog=true');
    expect((await tickets.documentOf(id)).manualWorkEntries).toBe(1);
  });
});

describe('workedOnBy', () => {
  test('removes profiles that were set more than an hour ago, and keeps at most a hundred', async () => {
    const id = await post();
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
    const present = Array.from({ length: 120 }, (_, index) => [String(1000 + index), ago(index + 10)]);
    const workedOn = Object.fromEntries([...present, ['7', ago(3700)], ['8', ago(86_400)]]);
    await tickets.database.collection<{ _id: number }>('tickets').updateOne({ _id: id }, { $set: { workedOn } });
    await patch(id, { workedOnBy: 41 });
    const kept = Object.keys((await tickets.documentOf(id)).workedOn).map(Number);
    expect(kept.toSorted((left, right) => left - right)).toEqual([
      41,
      ...Array.from({ length: 99 }, (_, index) => 1000 + index),
    ]);
  });

  const caller = { profileId: 41, firstName: 'Kim', lastName: 'Muster', email: 'kim@example.com' };

  // spec: 6.67, 24.4
  test('adds a profile, null removes the caller; neither makes a new version or an event', async () => {
    const id = await post();
    await patch(id, { workedOnBy: 41 });
    await patch(id, { workedOnBy: 42 });
    const added = await tickets.request('PATCH', `/ticket/${id}`, { caller, body: { workedOnBy: 41 } });
    expect(added.json.ticket).toMatchObject({ workedOnByIds: expect.arrayContaining([41, 42]), version: 1 });
    expect(added.json.ticket.workedOnBy).toContainEqual({
      id: 41,
      firstName: 'Kim',
      lastName: 'Muster',
      email: 'kim@example.com',
    });
    const removed = await tickets.request('PATCH', `/ticket/${id}`, { caller, body: { workedOnBy: null } });
    expect(removed.json.ticket.workedOnByIds).toEqual([42]);
    expect((await get(id)).workedOnByIds).toEqual([42]);
    expect(await eventsOf(id)).toEqual([]);
    expect((await tickets.documentOf(id)).modifiedAt).toEqual((await tickets.documentOf(id)).createdAt);
  });

  // spec: 6.67
  test('ends after an hour, and a GET does not set it', async () => {
    const id = await post();
    await patch(id, { workedOnBy: 41 });
    const hourAgo = new Date(Date.now() - 3_601_000);
    await tickets.database
      .collection<{ _id: number }>('tickets')
      .updateOne({ _id: id }, { $set: { 'workedOn.41': hourAgo } });
    await tickets.request('GET', `/ticket/${id}`, { caller });
    expect((await get(id)).workedOnByIds).toEqual([]);
  });

  test('can be combined with a change', async () => {
    const id = await post();
    const { json } = await patch(id, { workedOnBy: 43, priority: 'high' });
    expect(json.ticket).toMatchObject({ workedOnByIds: [43], priority: 'high', version: 2 });
    expect(await get(id)).toMatchObject({ workedOnByIds: [43], priority: 'high', version: 2 });
  });
});

const patches = runs(100, 1_000);
test(`${patches} parallel PATCHes of 10 tickets on two instances lose no change`, async () => {
  const other = await tickets.startInstance();
  try {
    const urls = [tickets.url, `http://127.0.0.1:${other.ports.http}`];
    const ids = await Promise.all(Array.from({ length: 10 }, () => post()));
    const statuses: number[] = [];
    let sent = 0;
    const sendOneByOne = async () => {
      while (sent < patches) {
        const index = sent++;
        const [url, body] = [urls[(index >> 4) % 2] as string, { contractId: `V${index}` }];
        const path = `/ticket/${ids[index % 10]}`;
        statuses.push((await tickets.request('PATCH', path, { body, url })).status);
      }
    };
    // Not more at once: on a loaded machine, the tokens and connections of those that wait would expire.
    await Promise.all(Array.from({ length: 100 }, sendOneByOne));
    expect(statuses).toEqual(Array(patches).fill(200));
    for (const id of ids) {
      const { version, outbox } = await tickets.documentOf(id);
      expect(version).toBe(1 + patches / 10);
      expect(outbox.map((event: { version: number }) => event.version)).toEqual(
        Array.from({ length: version }, (_, index) => index + 1),
      );
    }
  } finally {
    await other.stop();
  }
});
