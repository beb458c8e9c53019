import { golden } from '@ticketing/testkit/golden.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import type { TestResponse } from '@ticketing/testkit/send-request.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;
let tags: number[];

beforeAll(async () => {
  tickets = await startHarness();
  const created = await Promise.all(
    ['Strom', 'Gas', 'Wasser'].map((name) =>
      tickets.request('POST', '/tag', { caller: { roleId: 1 }, body: { name } }),
    ),
  );
  tags = created.map(({ json }) => json.id);
});
afterAll(() => tickets.stop());

const post = async (body: object = {}): Promise<number> =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'chat', ...body } })).json.id;
const postMany = (count: number, body: object = {}) => Promise.all(Array.from({ length: count }, () => post(body)));
const bulk = (elements: unknown, query = '', url?: string): Promise<TestResponse> =>
  tickets.request('PATCH', `/ticket${query}`, { body: elements, ...(url ? { url } : {}) });
const get = async (id: number) => (await tickets.request('GET', `/ticket/${id}`)).json;
const versionsOf = (ids: readonly number[]) =>
  Promise.all(ids.map(async (id) => (await tickets.documentOf(id)).version as number));

describe('PATCH /ticket', () => {
  // spec: 4.9, 6.31, 6.45, 6.68, 17.4, 22.1, 22.3, 22.11
  test('writes every field that the API names', async () => {
    const [first = 0, second = 0] = await postMany(2, { tags: [tags[0]] });
    const change = {
      contractId: 'V-1',
      status: 'pending',
      workedOnBy: 12,
      priority: 'urgent',
      dueBy: '2030-01-31 10:00:00',
      firstResponseDueBy: '2030-01-30 10:00:00',
      agentId: 7,
      subject: 'Zähler',
      summary: 'Der Zähler steht.',
      customerId: 'K-1',
      customerLegitimation: 30,
      partnerId: 3,
      spamStatus: 'manual_clean',
      clientData: { 'a.b': { $set: [1, null] } },
    };
    const response = await bulk([
      { id: first, ...change, tagIds: [tags[1]] },
      { id: second, addTagIds: [tags[2]] },
    ]);
    expect([response.status, response.json]).toEqual([200, { success: true }]);
    expect(await get(first)).toMatchObject({ ...change, workedOnBy: [{ id: 12 }], tagIds: [tags[1]], version: 2 });
    expect(await get(second)).toMatchObject({ tagIds: [tags[0], tags[2]], version: 2 });
    await golden('bulk', response.json);
  });

  // spec: 6.45, 6.47
  test('clears fields that are null', async () => {
    const set = { agentId: 7, customerId: 'K', partnerId: 3, clientData: { a: 1 } };
    const id = await post();
    await bulk([{ id, ...set }]);
    const refused = await bulk([{ id, subject: null, summary: null }]);
    expect(refused.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '#/0/subject',
      '#/0/summary',
    ]);
    const cleared = Object.fromEntries(Object.keys(set).map((name) => [name, null]));
    expect((await bulk([{ id, ...cleared }])).status).toBe(200);
    expect(await get(id)).toMatchObject({ ...cleared, version: 3 });
  });

  test('changes nothing if an element has only a version', async () => {
    const id = await post();
    expect((await bulk([{ id, version: 1 }])).status).toBe(200);
    expect(await get(id)).toMatchObject({ version: 1 });
    expect((await tickets.documentOf(id)).worklog).toEqual([]);
  });

  // spec: 22.2
  test('with includeInWorklog=false is not recorded in the worklog', async () => {
    const [first = 0, second = 0] = await postMany(2);
    await bulk([{ id: first, priority: 'high' }], '?includeInWorklog=false');
    await bulk([{ id: second, priority: 'high' }]);
    expect((await tickets.documentOf(first)).manualWorkEntries).toBe(0);
    expect((await tickets.documentOf(second)).manualWorkEntries).toBe(1);
  });

  test('leaves no reservation and no record of the bulk on the tickets', async () => {
    const id = await post();
    await bulk([{ id, priority: 'high', version: 1 }]);
    expect((await tickets.documentOf(id)).reservedBy).toBeNull();
    const record = await tickets.database.collection('bulks').findOne({}, { sort: { appliedAt: -1 } });
    expect(record).toMatchObject({ state: 'applied', caller: '' });
    expect(record?.request.length()).toBe(0);
  });
});

describe('the tags of an element', () => {
  // spec: 6.53, 22.5
  test('tagIds replaces all tags; addTagIds and removeTagIds change the existing ones', async () => {
    const ids = await postMany(3, { tags: [tags[0], tags[1]] });
    await bulk([
      { id: ids[0], tagIds: [tags[2]] },
      { id: ids[1], addTagIds: [tags[2], tags[0]] },
      { id: ids[2], removeTagIds: [tags[0]], addTagIds: [tags[2]] },
    ]);
    const read = await Promise.all(ids.map(async (id) => (await get(id)).tagIds));
    expect(read).toEqual([[tags[2]], [tags[0], tags[1], tags[2]], [tags[1], tags[2]]]);
  });

  // spec: 22.6
  test('tagIds cannot be combined with addTagIds or removeTagIds, nor can a tag be both added and removed', async () => {
    const ids = await postMany(3);
    const refused = await bulk([
      { id: ids[0], tagIds: [tags[0]], addTagIds: [tags[1]] },
      { id: ids[1], tagIds: [], removeTagIds: [tags[1]] },
      { id: ids[2], addTagIds: [tags[0], tags[1]], removeTagIds: [tags[1]] },
    ]);
    expect(refused.status).toBe(400);
    expect(violationsOf(refused)).toEqual([
      '#/0/tagIds conflicting_tags',
      '#/1/tagIds conflicting_tags',
      '#/2/addTagIds/1 conflicting_tags',
    ]);
  });

  test('a tag that does not exist can be removed, but not added', async () => {
    const id = await post({ tags: [tags[0]] });
    expect((await bulk([{ id, removeTagIds: [999_999] }])).status).toBe(200);
    expect(violationsOf(await bulk([{ id, addTagIds: [999_999] }]))).toEqual(['#/0/addTagIds/0 unknown_tag']);
  });
});

describe('spamStatus', () => {
  // spec: 5.3, 6.26
  test('manual_spam and manual_clean can be set through the API; other values cannot', async () => {
    const id = await post();
    for (const spamStatus of ['manual_spam', 'manual_clean']) {
      expect((await bulk([{ id, spamStatus }])).status).toBe(200);
      expect((await get(id)).spamStatus).toBe(spamStatus);
    }
    for (const spamStatus of ['auto_spam', 'auto_clean', 'auto_programmatic']) {
      expect(violationsOf(await bulk([{ id, spamStatus }]))).toEqual(['#/0/spamStatus not_allowed']);
    }
    expect(violationsOf(await bulk([{ id, spamStatus: null }]))).toEqual(['#/0/spamStatus null_not_allowed']);
    expect((await get(id)).spamStatus).toBe('manual_clean');
  });
});

// spec: 14.3
test('customerLegitimation is 0 to 100', async () => {
  const id = await post();
  for (const customerLegitimation of [0, 40, 100]) {
    expect((await bulk([{ id, customerLegitimation }])).status).toBe(200);
    expect(await get(id)).toMatchObject({ customerLegitimation });
  }
  for (const customerLegitimation of [-1, 101]) {
    expect(violationsOf(await bulk([{ id, customerLegitimation }]))).toEqual(['#/0/customerLegitimation out_of_range']);
  }
});

describe('refresh flags', () => {
  test.each([
    [{ refreshMode: 'full' }, 'full'],
    [{ refreshMode: 'summaryAndText' }, 'summaryAndText'],
    [{ refreshMode: 'customer' }, 'customer'],
    [{ refreshMode: 'tags' }, 'tags'],
    [{ refreshMode: 'agents' }, 'agents'],
    [{ refresh: true }, 'full'],
    [{ refreshTags: true }, 'tags'],
    // spec: 17.6, 22.7, 22.8, 22.9, 22.10, 38.2
    // guarantee: E8
  ])('%j schedules an analysis, changes nothing and publishes nothing', async (flag, mode) => {
    const id = await post();
    const before = await tickets.documentOf(id);
    expect((await bulk([{ id, ...flag, status: 'closed', priority: 'urgent', addTagIds: [tags[0]] }])).status).toBe(
      200,
    );
    expect(await tickets.documentOf(id)).toEqual(before);
    const scheduled = await tickets.database.collection('analysisRequests').find({ ticketId: id }).toArray();
    expect(scheduled).toEqual([{ _id: `${id}:${mode}`, ticketId: id, revision: 1, mode, at: expect.any(Date) }]);
  });

  test.each([
    [{ refresh: true }, '@1767225600'],
    [{ refreshTags: false }, '@1767225600'],
    [{ refreshMode: 'full' }, null],
    [{ priority: 'low' }, null],
    // spec: 22.9, 41.4
  ])('the response to %j has Deprecation: %s', async (flag, deprecation) => {
    const response = await bulk([{ id: await post() }, { id: await post(), ...flag }]);
    expect(response.headers.get('deprecation')).toBe(deprecation);
  });

  test('have no effect if they are false', async () => {
    const id = await post();
    await bulk([{ id, refresh: false, refreshTags: false, priority: 'urgent' }]);
    expect(await get(id)).toMatchObject({ priority: 'urgent', version: 2 });
  });

  test('apply to their element only', async () => {
    const [first = 0, second = 0] = await postMany(2);
    await bulk([
      { id: first, refreshMode: 'full', priority: 'high' },
      { id: second, priority: 'high' },
    ]);
    expect(await versionsOf([first, second])).toEqual([1, 2]);
  });
});

describe('all or none', () => {
  // spec: 22.1, 22.4, 39.6
  test('if an element is invalid or its ticket unknown, none is applied, and each error is reported', async () => {
    const ids = await postMany(3);
    const refused = await bulk([
      { id: ids[0], priority: 'high' },
      { id: ids[0], priority: 'low' },
      { id: 1_999_999, priority: 'high' },
      { id: ids[1], addTagIds: [999_999] },
    ]);
    expect(refused.status).toBe(400);
    expect(violationsOf(refused)).toEqual([
      '#/1/id duplicate_ticket',
      '#/2/id unknown_ticket',
      '#/3/addTagIds/0 unknown_tag',
    ]);
    const malformed = await bulk([{ id: ids[0], priority: 'high' }, { priority: 'high' }, { id: ids[2], fax: 1 }, 5]);
    expect(violationsOf(malformed)).toEqual(['#/1/id required', '#/2/fax unknown_field', '#/3 wrong_type']);
    expect(await versionsOf(ids)).toEqual([1, 1, 1]);
  });

  // spec: 22.3
  test('accepts 1 to 500 elements', async () => {
    const ids = await postMany(2);
    expect(violationsOf(await bulk([]))).toEqual(['# too_few_items']);
    const many = Array.from({ length: 501 }, (_, index) => ({ id: index + 1, priority: 'high' }));
    expect(violationsOf(await bulk(many))).toEqual(['# too_many_items']);
    expect((await bulk({ id: ids[0] })).status).toBe(400);
    const fits = await postMany(500);
    expect((await bulk(fits.map((id) => ({ id, priority: 'high' })))).status).toBe(200);
    expect(new Set(await versionsOf(fits))).toEqual(new Set([2]));
  });

  test('with versions, of which one is no longer current: 412, nothing is applied and nothing stays reserved', async () => {
    const ids = await postMany(4);
    await bulk([{ id: ids[2], priority: 'high' }]);
    const refused = await bulk([
      { id: ids[3], priority: 'urgent', version: 1 },
      { id: ids[0], priority: 'urgent' },
      { id: ids[2], priority: 'urgent', version: 1 },
      { id: ids[1], priority: 'urgent', version: 1 },
    ]);
    expect([refused.status, refused.json.code]).toEqual([412, 'stale_version']);
    expect(await versionsOf(ids)).toEqual([1, 1, 2, 1]);
    for (const id of ids) expect((await tickets.documentOf(id)).reservedBy).toBeNull();
  });

  test('of many bulks for the same versions exactly one is applied, to all its tickets', async () => {
    const ids = await postMany(5);
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        bulk((index % 2 ? ids : [...ids].reverse()).map((id) => ({ id, contractId: `V${index}`, version: 1 }))),
      ),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 412)).toHaveLength(11);
    const winner = `V${statuses.indexOf(200)}`;
    for (const id of ids) expect(await get(id)).toMatchObject({ contractId: winner, version: 2 });
  });
});

const bulks = runs(20, 200);
test(`${bulks} overlapping bulks on two instances: each version rises by the number of changes of its ticket`, async () => {
  const other = await tickets.startInstance();
  try {
    const urls = [tickets.url, `http://127.0.0.1:${other.ports.http}`];
    const ids = await postMany(20);
    const expected = new Map(ids.map((id) => [id, 1]));
    const change = async (index: number) => {
      const chosen = ids.filter((_, position) => (position * 7 + index * 3) % 5 < 2);
      for (const id of chosen) expected.set(id, (expected.get(id) ?? 0) + 1);
      const changes = chosen.map((id) => ({ id, contractId: `V${index}` }));
      expect((await bulk(changes, '', urls[index % 2])).status).toBe(200);
    };
    // Not all at once: a connection on which nothing comes for a minute is closed.
    for (let first = 0; first < bulks; first += 40) {
      await Promise.all(Array.from({ length: 40 }, (_, index) => change(first + index)));
    }
    expect(await versionsOf(ids)).toEqual([...expected.values()]);
    for (const id of ids) {
      const { outbox, version } = await tickets.documentOf(id);
      expect(outbox.map((event: { version: number }) => event.version)).toEqual(
        Array.from({ length: version }, (_, index) => index + 1),
      );
    }
  } finally {
    await other.stop();
  }
});

test('a ticket that a dead process has left reserved can be changed, and its bulk is cancelled', async () => {
  const id = await post();
  await tickets.database.collection<{ _id: string }>('bulks').insertOne({
    _id: 'dead',
    state: 'reserving',
    request: Buffer.alloc(0),
    caller: '{}',
    traceparent: '',
    lease: { owner: 'dead', expiresAt: new Date(Date.now() - 1000) },
  } as never);
  const reserve = (bulkId: string) =>
    tickets.database.collection<{ _id: number }>('tickets').updateOne({ _id: id }, { $set: { reservedBy: bulkId } });
  for (const bulkId of ['dead', 'gone']) {
    await reserve(bulkId);
    const response = await tickets.request('PATCH', `/ticket/${id}`, { body: { contractId: bulkId } });
    expect(response.json.ticket.contractId).toBe(bulkId);
  }
  await vi.waitFor(
    async () => expect(await tickets.database.collection('bulks').findOne({ state: 'reserving' })).toBeNull(),
    { timeout: 30_000 },
  );
});
