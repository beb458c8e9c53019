import { runs } from '@ticketing/testkit/search-effort.ts';
import { seed } from '@ticketing/testkit/seed.ts';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { matchesFilter, type RawFilter } from '../../test/naive-filter.ts';
import { inOrder } from '../../test/naive-order.ts';
import { anyFilter, type SearchHarness, type SearchResult, startSearch } from '../../test/naive-request.ts';
import { insertTickets, randomTickets } from '../../test/naive-ticket.ts';

/** From docs/reference/api.md, Order and pages. */
const orderByFields =
  `t.id, t.channel, t.subchannelId, t.channelId, t.direction, t.status, t.priority, t.agentId, t.customerId,
  t.contractId, t.partnerId, t.isCustomerActive, t.aiSupportLevel, i.aiAgentId, t.createdAt, t.modifiedAt,
  t.firstResponseDueBy, t.dueBy, t.lastMessageAt, t.lastCustomerMessageAt, tt.tagId, t.sentiment, t.language,
  t.languageCode, t.from`.split(/,\s+/);
const orders = orderByFields.flatMap((field) => [[field, 'asc'] as const, [field, 'desc'] as const]);

let tickets: SearchHarness;
const all = randomTickets(140, seed);
const now = () => Math.floor(Date.now() / 1000);

beforeAll(async () => {
  tickets = await startSearch();
  await insertTickets(tickets, all);
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(() => tickets.stop());

/** Reads a list to its end by `offset` or by `cursor`, in pages whose sizes are the given ones, repeated. */
async function readInPages(body: object, sizes: readonly number[], by: 'offset' | 'cursor'): Promise<SearchResult[]> {
  const pages: SearchResult[] = [];
  let offset = 0;
  for (;;) {
    const limit = sizes[pages.length % sizes.length];
    const cursor = pages.at(-1)?.nextCursor;
    const page = await tickets.search({ ...body, limit, ...(by === 'offset' ? { offset } : cursor ? { cursor } : {}) });
    expect(page).toMatchObject({ offset, limit });
    pages.push(page);
    offset += page.ids.length;
    if (page.nextCursor === null) return pages;
    expect(page.ids).toHaveLength(limit ?? 0);
  }
}

describe('the order of random tickets', () => {
  const sizes = fc.array(fc.integer({ min: 17, max: 60 }), { minLength: 1, maxLength: 4 });
  const filters = fc.oneof(fc.constant<RawFilter[]>([]), fc.array(anyFilter, { maxLength: 1 }));

  // spec: 6.41, 20.3, 20.5
  test.each(orders)('by %s %s is total, and pages have neither gaps nor duplicates', async (field, direction) => {
    const check = async (pageSizes: readonly number[], conditions: readonly RawFilter[]) => {
      const body = { orderByField: field, orderByDirection: direction, filters: conditions };
      const expected = inOrder(
        all.filter((ticket) => conditions.every((filter) => matchesFilter(ticket, filter, now()))),
        field,
        direction,
        now(),
      );
      for (const by of ['offset', 'cursor'] as const) {
        const pages = await readInPages(body, pageSizes, by);
        expect(pages.flatMap(({ ids }) => ids)).toEqual(expected);
        expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([expected.length]));
      }
    };
    await fc.assert(fc.asyncProperty(sizes, filters, check), { numRuns: runs(1, 5) });
  });

  // spec: 20.2, 20.4, 20.7
  test('is by id and descending by default', async () => {
    expect((await tickets.search({ limit: 500 })).ids).toEqual(inOrder(all, 't.id', 'desc', now()));
    expect((await tickets.search({})).ids).toHaveLength(100);
    expect((await tickets.search({ orderByField: 'priority', limit: 500 })).ids).toEqual(
      inOrder(all, 't.priority', 'desc', now()),
    );
  });
});

describe('a page', () => {
  // spec: 20.2, 40.1
  test.each([1, 500])('may have a limit of %i', async (limit) => {
    const { ids, total } = await tickets.search({ limit });
    expect(ids).toHaveLength(Math.min(limit, total));
  });

  test.each([
    [{ limit: 0 }, '#/limit'],
    [{ limit: 501 }, '#/limit'],
    [{ limit: 1.5 }, '#/limit'],
    [{ offset: -1 }, '#/offset'],
    [{ orderByField: 't.body' }, '#/orderByField'],
    [{ orderByField: '$natural' }, '#/orderByField'],
    [{ orderByDirection: 'up' }, '#/orderByDirection'],
    [{ ticketScope: 'mine' }, '#/ticketScope'],
    // spec: 20.2, 20.3, 20.5, 20.7, 20.8, 40.1
  ])('of %j is refused', async (body, pointer) => {
    const { status, json } = await tickets.refused(body);
    expect([status, json.errors.map((one: { pointer: string }) => one.pointer)]).toEqual([400, [pointer]]);
  });

  // spec: 20.14, 39.4
  test('after the last ticket is empty, not an error', async () => {
    for (const offset of [all.length, all.length + 1, 2_147_483_647]) {
      const found = await tickets.search({ orderByField: 't.dueBy', offset });
      expect(found).toMatchObject({ ids: [], total: all.length, offset, nextCursor: null });
    }
  });

  test('has a cursor unless it is the last one', async () => {
    expect((await tickets.search({ limit: all.length })).nextCursor).toBeNull();
    expect((await tickets.search({ limit: all.length - 1 })).nextCursor).toEqual(expect.any(String));
    expect((await tickets.search({ limit: 10, offset: all.length - 10 })).nextCursor).toBeNull();
  });

  test('by offset can be continued by its cursor', async () => {
    const expected = inOrder(all, 't.dueBy', 'asc', now());
    const order = { orderByField: 't.dueBy', orderByDirection: 'asc' };
    const { nextCursor } = await tickets.search({ ...order, offset: 33, limit: 7 });
    const next = await tickets.search({ ...order, cursor: nextCursor, limit: 500 });
    expect(next).toMatchObject({ ids: expected.slice(40), offset: 40 });
  });
});

describe('a cursor', () => {
  const skills = { tagIds: [1], excludedTagIds: [], restricted: false };
  const filters = [{ key: 't.id', comparator: '>', value: 3 }];
  const search = { filters, orderByField: 't.status', orderByDirection: 'asc', ticketScope: 'all', limit: 5 };

  test('keeps the total of the first page while tickets are added, and shows none twice', async () => {
    const order = { orderByField: 't.createdAt', orderByDirection: 'desc' };
    const first = await tickets.search({ ...order, limit: 50 });
    const added = randomTickets(20, seed + 1).map((ticket) => ({ ...ticket, id: ticket.id + 1000 }));
    await insertTickets(tickets, added);
    const pages = [first];
    for (let cursor = first.nextCursor; cursor; cursor = pages.at(-1)?.nextCursor ?? null) {
      pages.push(await tickets.search({ ...order, limit: 50, cursor }));
    }
    const ids = pages.flatMap((page) => page.ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => id <= 1000)).toEqual(inOrder(all, 't.createdAt', 'desc', now()));
    expect(pages.map(({ total }) => total)).toEqual(pages.map(() => all.length));
    expect((await tickets.search(order)).total).toBe(all.length + added.length);
    await tickets.database.collection<{ _id: number }>('tickets').deleteMany({ _id: { $gt: 1000 } });
  });

  test('treats the same customers as active as when the first page was read', async () => {
    const order = { orderByField: 't.isCustomerActive', orderByDirection: 'desc' };
    const expected = inOrder(all, 't.isCustomerActive', 'desc', now());
    const first = await tickets.search({ ...order, limit: 3 });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * 60_000 });
    const rest = await tickets.search({ ...order, limit: 500, cursor: first.nextCursor });
    expect([...first.ids, ...rest.ids]).toEqual(expected);
  });

  test.each([
    ['other filters', { filters: [{ key: 't.id', comparator: '>', value: 4 }] }],
    ['another comparator', { filters: [{ key: 't.id', comparator: '>=', value: 3 }] }],
    ['no filters', { filters: [] }],
    ['another order', { orderByField: 't.priority' }],
    ['another direction', { orderByDirection: 'desc' }],
    ['another scope', { ticketScope: 'skills' }],
  ])('is refused with %s', async (_, change) => {
    const { nextCursor } = await tickets.search(search);
    const { status, json } = await tickets.refused({ ...search, ...change, cursor: nextCursor });
    expect([status, json.code, json.errors[0].pointer]).toEqual([400, 'invalid_cursor', '#/cursor']);
  });

  test('of the scope skills is refused with other skills, or for another caller', async () => {
    const body = { ...search, ticketScope: 'skills', limit: 1 };
    const { nextCursor: cursor } = await tickets.search(body, { caller: { skills } });
    const status = async (caller: object) =>
      (await tickets.request('POST', '/ticket/search', { body: { ...body, cursor }, caller })).status;
    expect(await status({ skills })).toBe(200);
    expect(await status({ skills: { ...skills, tagIds: [1, 2] } })).toBe(400);
    expect(await status({ skills: { ...skills, excludedTagIds: [9] } })).toBe(400);
    expect(await status({ skills: { ...skills, restricted: true } })).toBe(400);
    expect(await status({ skills, profileId: 8 })).toBe(400);
  });

  test('continues with another limit, and with the same filters written differently', async () => {
    const { nextCursor: cursor } = await tickets.search(search);
    const reworded = [{ key: 'id', comparator: '>', value: '3' }];
    expect((await tickets.search({ ...search, filters: reworded, cursor, limit: 9 })).ids).toHaveLength(9);
  });

  test('cannot be combined with an offset', async () => {
    const { nextCursor: cursor } = await tickets.search(search);
    for (const offset of [0, 5]) {
      const { status, json } = await tickets.refused({ ...search, cursor, offset });
      expect([status, json.code, json.errors[0].pointer]).toEqual([400, 'not_allowed', '#/offset']);
    }
  });

  test('that is null counts as absent', async () => {
    expect((await tickets.search({ cursor: null, limit: 5 })).ids).toEqual((await tickets.search({ limit: 5 })).ids);
  });

  test('is refused if its text was changed in any way', async () => {
    const cursor = String((await tickets.search(search)).nextCursor);
    const at = fc.nat(cursor.length);
    const letter = fc.constantFrom('A', 'z', '0', '-', '_', '.', '=', '!', ' ', 'é');
    const change = fc.oneof(
      fc.tuple(at, letter).map(([index, one]) => cursor.slice(0, index) + one + cursor.slice(index)),
      fc.tuple(at, letter).map(([index, one]) => cursor.slice(0, index) + one + cursor.slice(index + 1)),
      at.map((length) => cursor.slice(0, length)),
    );
    await fc.assert(
      fc.asyncProperty(change, async (tampered) => {
        fc.pre(tampered !== cursor);
        const { status, json } = await tickets.refused({ ...search, cursor: tampered });
        expect([status, json.code]).toEqual([400, 'invalid_cursor']);
      }),
      { numRuns: runs(25, 250) },
    );
  });

  test('that is no cursor at all is refused with 400', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.base64String({ maxLength: 300 }),
      fc.jsonValue().map((value) => `${Buffer.from(JSON.stringify(value)).toString('base64url')}.AAAA`),
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, fc.jsonValue()), async (cursor) => {
        fc.pre(cursor !== null);
        expect((await tickets.refused({ cursor })).status).toBe(400);
      }),
      { numRuns: runs(25, 250) },
    );
    expect((await tickets.refused({ cursor: 'x'.repeat(8193) })).status).toBe(400);
  });
});
