import { golden } from '@ticketing/testkit/golden.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness();
});
afterAll(() => tickets.stop());

const post = (body: object) => tickets.request('POST', '/tag', { caller: { permissions: ['manageTags'] }, body });

// spec: 2.12, 16.3, 36.1
test('creates a tag with defaults, and a child of it with every field', async () => {
  const parent = await post({ name: 'Abrechnung' });
  expect(parent.json).toEqual({ success: true, id: parent.json.id });
  await golden('tag-minimal', (await tickets.request('GET', `/tag/${parent.json.id}`)).json);
  const child = await post({
    name: 'Abschlag',
    parent: parent.json.id,
    type: 'product',
    reference: 'contract',
    visibility: 'private',
    color: '#3b82f6',
    routingRelevant: false,
    sla: 172_800,
    firstResponseSla: 14_400,
    priority: 'urgent',
    detection: { keywords: ['Abschlag', 'Vorauszahlung'] },
  });
  await golden('tag-full', (await tickets.request('GET', `/tag/${child.json.id}`)).json);
  await golden('tags', (await tickets.request('GET', '/tag?limit=10')).json);
});

test('refuses a second tag of a name under the same parent, whatever its case', async () => {
  await post({ name: 'Umzug' });
  const again = await post({ name: ' umzug ' });
  expect(again.status).toBe(409);
  await golden('problem-409', again.json);
});

test('50 concurrent creations with the same name make one tag', async () => {
  const responses = await Promise.all(Array.from({ length: 50 }, () => post({ name: 'Gleichzeitig' })));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(responses.filter(({ status }) => status === 409)).toHaveLength(49);
  expect(await tickets.database.collection('tags').countDocuments({ name: 'Gleichzeitig' })).toBe(1);
});

// spec: 36.2
test('lists by part of the full name, by type and by page, without disabled tags unless includeDisabled is set', async () => {
  const { id } = (await post({ name: 'Liste A', type: 'brand' })).json;
  await post({ name: 'Darunter', type: 'brand', parent: id });
  await post({ name: 'Liste B', type: 'brand' });
  await post({ name: 'Liste C', type: 'brand', visibility: 'disabled' });
  const list = async (query: string) => (await tickets.request('GET', `/tag?type=brand&${query}`)).json;
  expect((await list('q=liste')).tags.map((tag: { name: string }) => tag.name)).toEqual([
    'Liste A',
    'Darunter',
    'Liste B',
  ]);
  expect(await list('includeDisabled=true&limit=1&offset=3')).toMatchObject({ total: 4, tags: [{ name: 'Liste C' }] });
});

// spec: 36.3, 39.1
test('requires the right manageTags, and responds with 404 for a tag that does not exist', async () => {
  const refused = await tickets.request('POST', '/tag', { body: { name: 'X' } });
  expect(refused.status).toBe(403);
  await golden('problem-403', refused.json);
  expect((await tickets.request('GET', '/tag/999999')).json).toMatchObject({ status: 404, title: 'Tag not found' });
  expect((await post({ name: 'X', parent: 999_999 })).json.errors[0].pointer).toBe('#/parent');
});
