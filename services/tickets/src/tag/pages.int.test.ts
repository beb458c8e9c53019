import type { RunningService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

const tagIds = Array.from({ length: 170 }, (_, index) => index + 1);
let tickets: TicketsHarness;
let instance: RunningService;

/** Makes tags with as many and as long keywords as a tag may have, and an instance that has read no tag before. */
beforeAll(async () => {
  tickets = await startHarness();
  const keywords = Array.from({ length: 500 }, (_, nth) => `${nth}`.padStart(200, 'k'));
  const body = { name: 'tag 1', detection: { keywords } };
  expect((await tickets.request('POST', '/tag', { caller: { roleId: 1 }, body })).status).toBe(200);
  const tags = tickets.database.collection<{ _id: number }>('tags');
  const first = await tags.findOne({ _id: 1 });
  await tags.insertMany(tagIds.slice(1).map((_id) => ({ ...first, _id, name: `tag ${_id}` })));
  instance = await tickets.startInstance();
});
afterAll(async () => {
  await instance.stop();
  await tickets.stop();
});

const request = (method: string, path: string, body?: object) =>
  tickets.request(method, path, { url: `http://127.0.0.1:${instance.ports.http}`, ...(body ? { body } : {}) });
const create = async (body: object): Promise<number> =>
  (await request('POST', '/ticket', { channel: 'phone', ...body })).json.id;
const search = (body: object, query = '') => request('POST', `/ticket/search${query}`, body);
const limitIn = (detail: string) => Number(/a limit of (\d+) fits$/.exec(detail)?.[1]);

// guarantee: B3
test('a list of tags whose keywords are too large together is refused, and the limit that the error names fits', async () => {
  const refused = await request('GET', '/tag?limit=1000');
  const { status, json } = refused;
  expect([status, json.code, json.errors[0].pointer]).toEqual([400, 'page_too_large', '#/query/limit']);
  const limit = limitIn(json.detail);
  expect((await request('GET', `/tag?limit=${limit}`)).json.tags).toHaveLength(limit);
  expect((await request('GET', `/tag?limit=${limit + 1}`)).status).toBe(400);
});

// guarantee: B3
test('the tags of tickets count in a page of these', async () => {
  for (let nth = 0; nth < 3; nth++) await create({ subject: 'tagged', tags: tagIds.slice(0, 60) });
  const filters = [{ key: 't.subject', comparator: '=', value: 'tagged' }];
  expect(limitIn((await search({ filters })).json.detail)).toBe(2);
  expect((await search({ filters, limit: 2 })).json.tickets[0].tags).toHaveLength(60);
});

// guarantee: B3
test('a page that only tickets and their tags together exceed is refused with a limit that fits', async () => {
  const text = 'x'.repeat(1024 * 1024 - 100);
  for (let nth = 0; nth < 27; nth++) {
    const isLarge = nth < 7;
    const tags = tagIds.slice(0, isLarge ? 3 : 1);
    const id = await create({ subject: 'both', tags, ...(isLarge ? { rawData: { text } } : {}) });
    if (isLarge) await request('PATCH', '/ticket', [{ id, clientData: { text } }]);
  }
  const filters = [{ key: 't.subject', comparator: '=', value: 'both' }];
  const body = { filters, orderByField: 't.id', orderByDirection: 'asc' };
  const withRawData = (changes: object) => search({ ...body, ...changes }, '?includeRawData=true');
  const refused = await withRawData({});
  expect(refused.json.code).toBe('page_too_large');
  const limit = limitIn(refused.json.detail);
  expect(limit).toBe(6);
  expect((await withRawData({ limit })).json.tickets).toHaveLength(limit);
  expect((await withRawData({ limit: limit + 1 })).json.code).toBe('page_too_large');
});
