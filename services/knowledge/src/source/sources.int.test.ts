import { golden } from '@ticketing/testkit/golden.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type KnowledgeHarness, startHarness } from '../../test/harness.ts';

let knowledge: KnowledgeHarness;

beforeAll(async () => {
  knowledge = await startHarness();
});
afterAll(() => knowledge.stop());

const patch = (id: number, body: object) => knowledge.write('PATCH', `/knowledgeSource/${id}`, body);
const get = (id: number) => knowledge.write('GET', `/knowledgeSource/${id}`);
const listCodes = ({ json }: { json: { errors: { pointer: string; code: string }[] } }) =>
  json.errors.map(({ pointer, code }) => `${pointer} ${code}`);

/** A body without ids, which may have gaps. */
const withoutIds = (body: unknown) =>
  JSON.parse(
    JSON.stringify(body, (key, value) => (['id', 'parent', 'instance'].includes(key) && value ? `<${key}>` : value)),
  );

// spec: 12.1
test('creates a source with defaults, and one with every field, and returns them as they are read', async () => {
  const plain = await knowledge.write('POST', '/knowledgeSource', { type: 'faq', name: ' a ', title: ' A ' });
  expect(plain.status).toBe(201);
  await golden('source-created', plain.json);
  const full = await knowledge.write('POST', '/knowledgeSource', {
    type: 'work-instruction',
    name: 'rueckgabe.md',
    title: 'Rückgabe',
    text: '# Rückgabe\n\n<script>alert(1)</script> [x](javascript:alert(1)) **14 Tage** <b>ja</b>',
    source: 'https://example.org/rueckgabe',
    tags: [3, 1],
    teams: [2, 7],
    parent: plain.json.id,
    confidential: true,
    excluded: true,
  });
  await golden('source-created-full', full.json);
  const { json, status } = await get(full.json.id);
  expect([status, json]).toEqual([200, full.json]);
  expect(knowledge.model.callers).toEqual([undefined, undefined]);
  await golden('source-list', (await knowledge.write('GET', '/knowledgeSource')).json);
  await golden('source-blocked', await knowledge.readAs([1], full.json.id));
});

test('changes every field, and nothing if no value differs', async () => {
  const { id } = await knowledge.create({ parent: null });
  const above = await knowledge.create();
  const changes = {
    ...{ type: 'news', source: 's', name: 'n', title: 't', text: 'x', tags: [2], teams: [1] },
    ...{ confidential: true, excluded: true, parent: above.id, status: 'archived' },
  };
  const changed = await patch(id, changes);
  await golden('source-changed', withoutIds(changed.json));
  expect(changed.json.knowledgeSource).toMatchObject(changes);
  const document = () => knowledge.database.collection<{ _id: number }>('sources').findOne({ _id: id });
  const before = await document();
  expect((await patch(id, changes)).json).toEqual(changed.json);
  expect(await document()).toEqual(before);
  const cleared = {
    ...{ source: '', text: '', tags: [], teams: [], parent: null },
    confidential: false,
    status: 'active',
  };
  expect((await patch(id, cleared)).json.knowledgeSource).toMatchObject(cleared);
});

// guarantee: K4
test('is deleted for good: nothing is left but the id, and no request finds it', async () => {
  const { id } = await knowledge.create({ text: 'Geheimnis', title: 'Geheimnis', source: 'geheim', tags: [1] });
  const deleted = await patch(id, { status: 'deleted', title: 'egal' });
  expect(deleted.status).toBe(200);
  await golden('source-deleted', withoutIds(deleted.json));
  const responses = await Promise.all([
    get(id),
    patch(id, { status: 'active' }),
    patch(id, { status: 'deleted' }),
    knowledge.write('POST', `/knowledgeSource/${id}/read`),
  ]);
  for (const { status, json } of responses) expect([status, json.code]).toEqual([404, 'knowledge_source_not_found']);
  await golden('source-not-found', withoutIds(responses[0]?.json));
  const document = await knowledge.database.collection<{ _id: number }>('sources').findOne({ _id: id });
  expect(document).toEqual({ _id: id, version: 2, deleted: true, requestId: null });
  const { json } = await knowledge.write('GET', '/knowledgeSource?source=geheim');
  expect(json.total).toBe(0);
  expect((await knowledge.create()).id).toBeGreaterThan(id);
});

test('a source with children that are not deleted cannot be deleted', async () => {
  const above = await knowledge.create();
  const child = await knowledge.create({ parent: above.id });
  await patch(child.id, { status: 'archived' });
  const refused = await patch(above.id, { status: 'deleted' });
  expect(refused.status).toBe(409);
  await golden('source-has-children', withoutIds(refused.json));
  expect((await patch(child.id, { status: 'deleted' })).status).toBe(200);
  expect((await patch(above.id, { status: 'deleted' })).status).toBe(200);
});

// spec: 17.14
test('any status becomes any other, and a deleted one none', async () => {
  const { id } = await knowledge.create();
  for (const status of ['archived', 'archived', 'active', 'archived', 'deleted']) {
    const { json } = await patch(id, { status });
    expect(json.knowledgeSource.status).toBe(status);
  }
});

test('refuses unknown tags and parents, cycles, and what the contract does not allow, with pointers', async () => {
  const post = (fields: object) =>
    knowledge.write('POST', '/knowledgeSource', { type: 'faq', name: 'n', title: 't', ...fields });
  const unknown = await post({ tags: [1, 99, 2, 98] });
  expect([unknown.status, listCodes(unknown)]).toEqual([400, ['#/tags/1 unknown_tag', '#/tags/3 unknown_tag']]);
  await golden('source-unknown-tag', unknown.json);
  expect(listCodes(await post({ parent: 999_999 }))).toEqual(['#/parent unknown_parent']);
  expect(listCodes(await post({ name: ' ', title: '\t' }))).toEqual(['#/name too_short', '#/title too_short']);
  expect(listCodes(await post({ confidential: true }))).toEqual(['#/teams teams_required']);
  const { id } = await knowledge.create();
  const below = await knowledge.create({ parent: id });
  expect(listCodes(await patch(id, { parent: id }))).toEqual(['#/parent knowledge_cycle']);
  expect(listCodes(await patch(id, { parent: below.id }))).toEqual(['#/parent knowledge_cycle']);
  expect(listCodes(await patch(id, { parent: 999_999 }))).toEqual(['#/parent unknown_parent']);
  expect(listCodes(await patch(id, { tags: [99] }))).toEqual(['#/tags/0 unknown_tag']);
  expect(listCodes(await patch(id, { title: null }))).toEqual(['#/title null_not_allowed']);
  expect(listCodes(await patch(id, { readByAgents: [] }))).toEqual(['#/readByAgents read_only_field']);
  const deleted = await knowledge.create();
  await patch(deleted.id, { status: 'deleted' });
  expect(listCodes(await post({ parent: deleted.id }))).toEqual(['#/parent unknown_parent']);
});

test('tags that cannot be asked for are 503, and nothing is created', async () => {
  const before = (await knowledge.write('GET', '/knowledgeSource')).json.total;
  knowledge.model.isUnavailable = true;
  try {
    const refused = await knowledge.write('POST', '/knowledgeSource', {
      type: 'faq',
      name: 'n',
      title: 't',
      tags: [1],
    });
    expect([refused.status, refused.json.code]).toEqual([503, 'dependency_unavailable']);
    expect((await knowledge.write('POST', '/knowledgeSource', { type: 'faq', name: 'n', title: 't' })).status).toBe(
      201,
    );
  } finally {
    knowledge.model.isUnavailable = false;
  }
  expect((await knowledge.write('GET', '/knowledgeSource')).json.total).toBe(before + 1);
});

test('confidential demands teams, whichever of the two is changed last', async () => {
  const { id } = await knowledge.create();
  expect(listCodes(await patch(id, { confidential: true }))).toEqual(['#/teams teams_required']);
  expect((await patch(id, { confidential: true, teams: [1] })).status).toBe(200);
  expect(listCodes(await patch(id, { teams: [] }))).toEqual(['#/teams teams_required']);
  expect((await patch(id, { teams: [], confidential: false })).status).toBe(200);
  const other = await knowledge.create({ teams: [1] });
  const [first, second] = await Promise.all([patch(other.id, { teams: [] }), patch(other.id, { confidential: true })]);
  expect([first.status, second.status].sort()).toEqual([200, 400]);
});

test('accepts values at their limits, and refuses one more', async () => {
  const post = async (fields: object) =>
    (await knowledge.write('POST', '/knowledgeSource', { type: 'faq', name: 'n', title: 't', ...fields })).status;
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  expect(await post({ name: 'n'.repeat(320) })).toBe(201);
  expect(await post({ name: 'n'.repeat(321) })).toBe(400);
  expect(await post({ title: 't'.repeat(998) })).toBe(201);
  expect(await post({ title: 't'.repeat(999) })).toBe(400);
  expect(await post({ source: 's'.repeat(8192) })).toBe(201);
  expect(await post({ source: 's'.repeat(8193) })).toBe(400);
  expect(await post({ text: 'ü'.repeat(524_288) })).toBe(201);
  expect(await post({ text: `${'ü'.repeat(524_288)}x` })).toBe(400);
  expect(await post({ teams: numbers(100) })).toBe(201);
  expect(await post({ teams: numbers(101) })).toBe(400);
  expect(await post({ tags: numbers(101) })).toBe(400);
  expect(await post({ teams: [1, 1] })).toBe(400);
});

test('has at most 100 levels', async () => {
  let parent: number | null = null;
  for (let level = 1; level <= 100; level++) parent = (await knowledge.create({ parent })).id;
  const body = { type: 'faq', name: 'n', title: 't', parent };
  expect(listCodes(await knowledge.write('POST', '/knowledgeSource', body))).toEqual(['#/parent knowledge_too_deep']);
});

// guarantee: K4
test('a request with an Idempotency-Key creates once, and its response is erased with the source', async () => {
  const send = (key: string, body: object) =>
    knowledge.write('POST', '/knowledgeSource', body, { headers: { 'idempotency-key': key } });
  const body = { type: 'faq', name: 'einmal', title: 'einmal', text: 'Geheimnis' };
  const [first, again] = [await send('k1', body), await send('k1', body)];
  expect([again.status, again.json]).toEqual([201, first.json]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect((await send('k1', { ...body, title: 'anders' })).status).toBe(422);
  expect((await patch(first.json.id, { status: 'deleted' })).status).toBe(200);
  const erased = await send('k1', body);
  expect([erased.status, erased.text.includes('Geheimnis')]).toEqual([404, false]);
});
