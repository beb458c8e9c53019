import { golden } from '@ticketing/testkit/golden.ts';
import { runs } from '@ticketing/testkit/search-effort.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type KnowledgeHarness, startHarness } from '../../test/harness.ts';

let knowledge: KnowledgeHarness;

beforeAll(async () => {
  knowledge = await startHarness();
});
afterAll(() => knowledge.stop());

const post = (body: object, headers: Record<string, string> = {}) =>
  knowledge.write('POST', '/skill', body, { headers });
const patch = (id: number, body: object) => knowledge.write('PATCH', `/skill/${id}`, body);
const readSlug = async (body: object): Promise<string> => (await post(body)).json.skill.slug;
const golden1 = (name: string, body: unknown) =>
  golden(
    name,
    JSON.parse(
      JSON.stringify(body, (key, value) => {
        if (key === 'id') return '<id>';
        if (key === 'instance') return '<instance>';
        return ['createdAt', 'modifiedAt'].includes(key)
          ? value.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, '<time>')
          : value;
      }),
    ),
  );

// spec: 2.9, 13.1, 13.4, 13.5, 33.1, 33.4, 33.5
test('creates a skill, and reads, lists, changes and deletes it', async () => {
  const created = await post({ name: ' Rückgabe prüfen ', description: 'd', content: '# <Regeln>\n', aiAgentId: null });
  expect(created.status).toBe(201);
  await golden1('skill-created', created.json);
  const { id } = created.json.skill;
  const read = await knowledge.request('GET', `/skill/${id}`);
  await golden1('skill', read.json);
  const listed = await knowledge.request('GET', '/skill?q=RÜCKGABE');
  await golden1('skill-list', listed.json);
  const changed = await patch(id, { name: 'Anders', description: null, content: null });
  await golden1('skill-changed', changed.json);
  expect((await patch(id, { slug: 'eigener-1' })).json.skill).toMatchObject({ name: 'Anders', slug: 'eigener-1' });
  const deleted = await knowledge.write('DELETE', `/skill/${id}`);
  expect([deleted.status, deleted.json]).toEqual([200, { success: true }]);
  for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
    const gone = await knowledge.write(method, `/skill/${id}`, body);
    expect([gone.status, gone.json.code]).toEqual([404, 'skill_not_found']);
  }
  expect((await post({ name: 'x', slug: 'eigener-1' })).status).toBe(201);
});

// spec: 13.2, 33.3
test('a derived slug that is taken gets the next number, and a given one is 409', async () => {
  expect(await readSlug({ name: 'Zähler' })).toBe('zaehler');
  const second = (await post({ name: 'zähler!' })).json.skill;
  expect(second.slug).toBe('zaehler-2');
  expect(await readSlug({ name: 'Zähler' })).toBe('zaehler-3');
  const refused = await post({ name: 'Zähler', slug: 'zaehler-2' });
  expect(refused.status).toBe(409);
  await golden1('skill-duplicate', refused.json);
  expect((await patch(second.id, { slug: 'zaehler' })).json.code).toBe('duplicate_skill');
  expect((await patch(second.id, { slug: 'zaehler-2' })).status).toBe(200);
  await knowledge.write('DELETE', `/skill/${second.id}`);
  expect(await readSlug({ name: 'Zähler' })).toBe('zaehler-2');
  const long = 'x'.repeat(320);
  expect([await readSlug({ name: long }), await readSlug({ name: long })]).toEqual([
    'x'.repeat(100),
    `${'x'.repeat(98)}-2`,
  ]);
  expect([await readSlug({ name: '日本' }), await readSlug({ name: '!' })]).toEqual(['skill', 'skill-2']);
});

// guarantee: K5
// asvs: 2.3.4
test('many skills of the same name at the same time, in two processes, have the numbers from 1 on', async () => {
  const other = await knowledge.startInstance();
  const urls = [knowledge.url, `http://127.0.0.1:${other.ports.http}`];
  const count = runs(20, 100);
  const slugs = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const url = urls[index % 2] ?? knowledge.url;
      return (await knowledge.write('POST', '/skill', { name: 'Viele' }, { url })).json.skill.slug;
    }),
  );
  const numbered = Array.from({ length: count }, (_, index) => (index === 0 ? 'viele' : `viele-${index + 1}`));
  expect(slugs.toSorted()).toEqual(numbered.toSorted());
  const given = await Promise.all(
    urls.map((url) => knowledge.write('POST', '/skill', { name: 'x', slug: 'nur-einer' }, { url })),
  );
  expect(given.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  await other.stop();
});

// spec: 33.2
test('refuses agents that do not exist, blank names, and slugs of another form', async () => {
  const { id } = (await post({ name: 'ok' })).json.skill;
  const unknown = await post({ name: 'x', aiAgentId: 3 });
  expect([unknown.status, unknown.json.code, unknown.json.errors[0].pointer]).toEqual([
    400,
    'unknown_agent',
    '#/aiAgentId',
  ]);
  expect((await patch(id, { aiAgentId: 3 })).json.code).toBe('unknown_agent');
  expect((await patch(id, { aiAgentId: null })).status).toBe(200);
  for (const body of [{ name: ' ' }, { name: 'x', slug: 'A' }, { name: 'x', slug: '-a' }, { name: 'x', slug: '' }, {}])
    expect((await post(body)).status, JSON.stringify(body)).toBe(400);
  expect((await patch(id, { name: null })).json.code).toBe('null_not_allowed');
  expect((await patch(id, { slug: null })).json.code).toBe('null_not_allowed');
  expect((await patch(id, { id: 5 })).status).toBe(400);
});

// spec: 13.3
test('a skill belongs to an AI agent, and moves from one to another where its slug is free', async () => {
  const owned = (await post({ name: 'agentwissen', aiAgentId: 1 })).json.skill;
  expect(owned).toMatchObject({ slug: 'agentwissen', aiAgentId: 1 });
  expect((await post({ name: 'agentwissen', aiAgentId: 2 })).json.skill.slug).toBe('agentwissen');
  expect((await post({ name: 'agentwissen' })).json.skill).toMatchObject({ slug: 'agentwissen', aiAgentId: null });
  expect((await patch(owned.id, { aiAgentId: 2 })).json.code).toBe('duplicate_skill');
  expect((await patch(owned.id, { aiAgentId: null })).json.code).toBe('duplicate_skill');
  expect((await patch(owned.id, { aiAgentId: 2, slug: 'agentwissen-neu' })).json.skill).toMatchObject({ aiAgentId: 2 });
  const of = async (agent: number) =>
    (await knowledge.request('GET', `/skill?q=agentwissen&aiAgentId=${agent}`)).json.skills.map(
      ({ slug, aiAgentId }: Record<string, unknown>) => [slug, aiAgentId],
    );
  expect([await of(1), await of(2)]).toEqual([
    [['agentwissen', null]],
    [
      ['agentwissen', 2],
      ['agentwissen', null],
      ['agentwissen-neu', 2],
    ],
  ]);
});

test('an AI agent is not taken on trust while nobody can say whether it exists', async () => {
  knowledge.model.isUnavailable = true;
  const response = await post({ name: 'unbekannt', aiAgentId: 1 });
  knowledge.model.isUnavailable = false;
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
  expect((await knowledge.request('GET', '/skill?q=unbekannt')).json.total).toBe(0);
});

// spec: 13.5
test('accepts values at their limits, and refuses one more', async () => {
  const status = async (fields: object) => (await post({ name: 'Grenze', ...fields })).status;
  expect(await status({ name: 'n'.repeat(320) })).toBe(201);
  expect(await status({ name: 'n'.repeat(321) })).toBe(400);
  expect(await status({ slug: 's'.repeat(100) })).toBe(201);
  expect(await status({ slug: 's'.repeat(101) })).toBe(400);
  expect(await status({ description: 'd'.repeat(10_000) })).toBe(201);
  expect(await status({ description: 'd'.repeat(10_001) })).toBe(400);
  expect(await status({ content: 'c'.repeat(1_048_576) })).toBe(201);
  expect(await status({ content: 'c'.repeat(1_048_577) })).toBe(400);
});

test('lists by slug, with those that an agent has, and a page of large contents names a limit that fits', async () => {
  const names = ['Liste b', 'liste C', 'LISTE a'];
  for (const name of names) await post({ name });
  const list = async (query: string) => (await knowledge.request('GET', `/skill?${query}`)).json;
  const slugs = ({ skills }: { skills: { slug: string }[] }) => skills.map(({ slug }) => slug);
  expect(slugs(await list('q=liste'))).toEqual(['liste-a', 'liste-b', 'liste-c']);
  const page = await list('q=liste&limit=1&offset=1&aiAgentId=5');
  expect([slugs(page), page.total, page.limit, page.offset]).toEqual([['liste-b'], 3, 1, 1]);
  expect((await list('q=l.ste')).total).toBe(0);
  expect((await list('limit=1001')).code).toBe('out_of_range');
  await knowledge.database.collection('skills').updateMany({ slug: /^liste/ }, { $set: { bytes: 8 * 1024 * 1024 } });
  expect((await list('q=liste')).detail).toContain('a limit of 2 fits');
});

test('a request with an Idempotency-Key creates one skill, and one whose skill was deleted creates none', async () => {
  const send = (name: string) => post({ name }, { 'idempotency-key': name });
  const [first, again] = await Promise.all([send('einmal'), send('einmal')]);
  expect([first.status, again.status].filter((status) => status === 201).length).toBeGreaterThan(0);
  expect((await send('einmal')).json.skill.slug).toBe('einmal');
  expect((await knowledge.request('GET', '/skill?q=einmal')).json.total).toBe(1);
});
