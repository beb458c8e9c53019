import { golden } from '@ticketing/testkit/golden.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type KnowledgeHarness, startHarness } from '../../test/harness.ts';

let knowledge: KnowledgeHarness;

beforeAll(async () => {
  knowledge = await startHarness();
});
afterAll(() => knowledge.stop());

const patch = (id: number, body: object) => knowledge.write('PATCH', `/knowledgeSource/${id}`, body);
/** The ids and the total of a list for a caller in teams. */
async function list(query: string, teams: number[] = []): Promise<{ ids: number[]; total: number }> {
  const { json } = await knowledge.request('GET', `/knowledgeSource?${query}`, { caller: { teams } });
  return { ids: json.knowledgeSources.map(({ id }: { id: number }) => id), total: json.total };
}
const search = (q: string, teams: number[] = []) => list(`q=${encodeURIComponent(q)}`, teams);

test('finds all words by their beginnings, without case and accents, umlauts also as ae, oe, ue', async () => {
  const { id } = await knowledge.create({
    title: 'Kündigungsfrist für Verträge',
    name: 'kuendigung.md',
    text: 'Die Größe des CAFÉS.',
  });
  const spelt = await knowledge.create({ title: 'Muenchen', text: 'the Contract ends <b>soon</b>' });
  for (const q of [
    'kündigung',
    'KUENDIGUNG',
    'kundig vertr',
    'grosse',
    'Groesse cafes',
    'cafés',
    'Verträge groß',
    'kuendigung.md',
  ]) {
    expect(await search(q), q).toEqual({ ids: [id], total: 1 });
  }
  for (const q of ['München', 'munch', 'CONTR end', 'soon'])
    expect((await search(q)).ids, q).toEqual(q === 'munch' ? [] : [spelt.id]);
  for (const q of ['frist', 'kündigung contract', '!!!', 'b']) expect((await search(q)).ids, q).toEqual([]);
});

test('those with all words in title and name come first, and then those changed last', async () => {
  const time = (id: number, modifiedAt: number) => patch(id, { source: String(modifiedAt) });
  const inText = await knowledge.create({ text: 'zebra streifen' });
  const inBoth = await knowledge.create({ title: 'zebra', text: 'streifen' });
  const inTitle = await knowledge.create({ title: 'Streifen des Zebras' });
  expect((await search('zebra streifen')).ids).toEqual([inTitle.id, inBoth.id, inText.id]);
  await time(inText.id, 1);
  expect((await search('zebra streifen')).ids[0]).toBe(inTitle.id);
  const page = await list('q=zebra&limit=1&offset=1');
  expect([page.ids.length, page.total]).toEqual([1, 3]);
});

// guarantee: K1
test('no search says what is in a text that the caller may not read', async () => {
  const closed = await knowledge.create({ teams: [5], title: 'Ordner' });
  const { id } = await knowledge.create({ parent: closed.id, title: 'Gehälter', text: 'Quastenflosser' });
  const own = await knowledge.create({ teams: [5], title: 'Quasten', text: 'Quastenflosser' });
  expect(await search('quastenflosser')).toEqual({ ids: [], total: 0 });
  expect(await search('quasten')).toEqual({ ids: [own.id], total: 1 });
  expect((await search('quasten flosser')).total).toBe(0);
  expect(await search('gehälter quastenflosser')).toEqual({ ids: [], total: 0 });
  expect((await search('gehalter')).ids).toEqual([id]);
  expect((await search('quastenflosser', [5])).ids.toSorted()).toEqual([id, own.id].toSorted());
  await patch(closed.id, { teams: [6] });
  expect((await search('quastenflosser', [5])).ids).toEqual([own.id]);
});

test('a changed title, name and text are found by their new words at once, and not by the old ones', async () => {
  const { id } = await knowledge.create({ title: 'alpaka', name: 'biber', text: 'chinchilla' });
  await patch(id, { title: 'dachs' });
  expect((await search('dachs biber chinchilla')).ids).toEqual([id]);
  await patch(id, { text: 'esel' });
  expect((await search('dachs biber esel')).ids).toEqual([id]);
  for (const q of ['alpaka', 'chinchilla']) expect((await search(q)).ids, q).toEqual([]);
  await patch(id, { status: 'deleted' });
  expect((await search('dachs')).ids).toEqual([]);
});

test('a search has at most 16 words', async () => {
  const words = (count: number) => Array.from({ length: count }, (_, at) => `a${at}`).join('+');
  expect((await knowledge.request('GET', `/knowledgeSource?q=${words(16)}`)).status).toBe(200);
  const refused = await knowledge.request('GET', `/knowledgeSource?q=${words(17)}`);
  expect([refused.status, refused.json.code, refused.json.errors[0].pointer]).toEqual([
    400,
    'too_many_words',
    '#/query/q',
  ]);
});

test('filters by type, status, tag, parent, source and excluded, and combines them', async () => {
  const above = await knowledge.create();
  const create = (fields: object) => knowledge.create({ parent: above.id, source: 'filter/ü.md', ...fields });
  const first = await create({ type: 'news', tags: [4, 5], excluded: true });
  const second = await create({ type: 'website', tags: [5] });
  const archived = await create({ type: 'news', tags: [5] });
  await patch(archived.id, { status: 'archived' });
  const ids = async (query: string) => (await list(`parent=${above.id}&${query}`)).ids.toSorted();
  const source = encodeURIComponent('filter/ü.md');
  expect(await ids('')).toEqual([first.id, second.id]);
  expect(await ids('status=archived')).toEqual([archived.id]);
  expect(await ids('type=news')).toEqual([first.id]);
  expect(await ids('tag=5')).toEqual([first.id, second.id]);
  expect(await ids('tag=4')).toEqual([first.id]);
  expect(await ids('excluded=false')).toEqual([second.id]);
  expect(await ids('excluded=true')).toEqual([first.id]);
  expect((await list(`source=${source}&excluded=true&tag=5&type=news`)).ids).toEqual([first.id]);
  expect((await list('source=filter')).ids).toEqual([]);
  expect((await list('parent=999999')).total).toBe(0);
  expect((await knowledge.request('GET', '/knowledgeSource?status=deleted')).status).toBe(400);
});

// spec: 2.8, 32.1, 32.2, 32.3, 32.4, 32.5, 32.6, 40.3
test('lists archived sources by the time of their change, with an exact total', async () => {
  const above = await knowledge.create();
  const ids: number[] = [];
  for (let index = 0; index < 5; index++) {
    const { id } = await knowledge.create({ parent: index < 3 ? above.id : null, teams: index === 0 ? [9] : [] });
    await patch(id, { status: 'archived' });
    ids.push(id);
  }
  const page = async (query: string) => (await knowledge.request('GET', `/knowledgeSource/archived?${query}`)).json;
  const listIds = ({ items }: { items: { id: number }[] }) => items.map(({ id }) => id);
  const all = await page('');
  expect([all.limit, all.offset, all.total]).toEqual([100, 0, all.items.length]);
  expect(listIds(all).slice(0, 5)).toEqual(ids.toReversed());
  expect(listIds(await page('orderByDirection=asc'))).toEqual(listIds(all).toReversed());
  const below = await page(`parent=${above.id}&limit=2&offset=1`);
  expect([listIds(below), below.total, below.limit, below.offset]).toEqual([[ids[1], ids[0]], 3, 2, 1]);
  await patch(ids[1] ?? 0, { status: 'active' });
  expect((await page(`parent=${above.id}`)).total).toBe(2);
  expect((await page('limit=1001')).code).toBe('out_of_range');
  expect((await page('limit=0')).code).toBe('out_of_range');
  expect((await page('offset=-1')).code).toBe('out_of_range');
  const shown = await page(`parent=${above.id}`);
  await golden(
    'source-archived-list',
    JSON.parse(JSON.stringify(shown, (key, value) => (['id', 'parent'].includes(key) && value ? `<${key}>` : value))),
  );
});
