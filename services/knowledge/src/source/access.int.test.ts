import { golden } from '@ticketing/testkit/golden.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { editor, type KnowledgeHarness, startHarness } from '../../test/harness.ts';

let knowledge: KnowledgeHarness;

beforeAll(async () => {
  knowledge = await startHarness();
});
afterAll(() => knowledge.stop());

const patch = (id: number, body: object) => knowledge.write('PATCH', `/knowledgeSource/${id}`, body);
const article = (id: number) => ({ id, kind: 'article' });
const folder = (id: number) => ({ id, kind: 'folder' });

// spec: 12.3, 12.4
// guarantee: K1
// asvs: 8.2.2
test('each source of the chain with teams blocks a caller who is in none of them', async () => {
  const top = await knowledge.create({ teams: [1] });
  const middle = await knowledge.create({ parent: top.id });
  const { id } = await knowledge.create({ parent: middle.id, teams: [2, 3], text: 'Geheimnis' });
  const blockedFor = async (teams: number[]) => (await knowledge.readAs(teams, id)).access.blockedItems;
  expect(await blockedFor([])).toEqual([article(id), folder(top.id)]);
  expect(await blockedFor([1])).toEqual([article(id)]);
  expect(await blockedFor([3])).toEqual([folder(top.id)]);
  expect(await blockedFor([9, 3, 1])).toEqual([]);
  expect(await knowledge.readAs([], middle.id)).toMatchObject({
    access: { blocked: true, blockedItems: [folder(top.id)] },
  });
  const blocked = await knowledge.readAs([], id);
  expect([blocked.title, blocked.text, blocked.access.blocked]).toEqual(['title', '', true]);
  expect((await knowledge.readAs([1, 2], id)).text).toBe('Geheimnis');
});

// guarantee: K1
test('a move and a change of teams count at once, for the source and for what is below it', async () => {
  const [open, closed] = [await knowledge.create(), await knowledge.create({ teams: [5] })];
  const above = await knowledge.create({ parent: open.id });
  const { id } = await knowledge.create({ parent: above.id, text: 'x' });
  const textFor = async (teams: number[]) => (await knowledge.readAs(teams, id)).text;
  expect(await textFor([])).toBe('x');
  await patch(above.id, { parent: closed.id });
  expect([await textFor([]), await textFor([5])]).toEqual(['', 'x']);
  await patch(closed.id, { teams: [6] });
  expect([await textFor([5]), await textFor([6])]).toEqual(['', 'x']);
  await patch(above.id, { parent: null });
  expect(await textFor([])).toBe('x');
});

// guarantee: K1
// asvs: 8.2.3
test('neither the right to write nor the admin role opens a text, also not in the response to a write', async () => {
  const { id } = await knowledge.create({ teams: [5], text: 'Geheimnis' });
  expect((await knowledge.write('GET', `/knowledgeSource/${id}`)).json.text).toBe('');
  const admin = await knowledge.request('GET', `/knowledgeSource/${id}`, { caller: { roleId: 1 } });
  expect([admin.json.text, admin.json.access.blocked]).toEqual(['', true]);
  const changed = await patch(id, { title: 'neu' });
  expect(changed.json.knowledgeSource).toMatchObject({ title: 'neu', text: '', access: { blocked: true } });
  expect((await knowledge.readAs([5], id)).text).toBe('Geheimnis');
});

// spec: 12.2
test('marks a source as read once for each agent, with the time and name of the last time', async () => {
  const { id } = await knowledge.create({ teams: [1] });
  const read = (caller: object) => knowledge.request('POST', `/knowledgeSource/${id}/read`, { caller });
  const ada = { profileId: 7, name: 'Ada L.', teams: [1] };
  await Promise.all(Array.from({ length: 20 }, () => read(ada)));
  await Promise.all([11, 12, 13].map((profileId) => read({ ...ada, profileId, name: null })));
  const last = await read({ ...ada, name: '$name' });
  expect(last.status).toBe(200);
  const { readByAgents, modifiedAt, createdAt } = last.json.knowledgeSource;
  expect(readByAgents.map((one: { id: number }) => one.id).toSorted()).toEqual([11, 12, 13, 7]);
  expect(readByAgents.at(-1)).toEqual({ id: 7, name: '$name', readAt: expect.any(String) });
  expect(readByAgents[0].name).toBe('Ada Lovelace');
  expect(modifiedAt).toBe(createdAt);
  await patch(id, { text: 'geändert' });
  expect((await knowledge.readAs([1], id)).readByAgents).toEqual(readByAgents);
  expect((await knowledge.readAs([], id)).readByAgents).toEqual([]);

  const refused = await read({ teams: [] });
  expect([refused.status, refused.json.code]).toEqual([409, 'knowledge_source_blocked']);
  const other = await knowledge.create();
  const noProfile = await knowledge.request('POST', `/knowledgeSource/${other.id}/read`, {
    caller: { kind: 'service' },
  });
  expect([noProfile.status, noProfile.json.code]).toEqual([409, 'no_profile']);
  const once = await knowledge.request('POST', `/knowledgeSource/${other.id}/read`);
  await golden(
    'source-read',
    JSON.parse(JSON.stringify(once.json, (key, value) => (key === 'id' && value !== 7 ? '<id>' : value))),
  );
});

test('keeps the last 1,000 who have read a source', async () => {
  const { id } = await knowledge.create();
  const readers = Array.from({ length: 1000 }, (_, index) => ({ id: index + 1000, name: 'x', readAt: 1_700_000_000 }));
  await knowledge.database.collection<{ _id: number }>('sources').updateOne({ _id: id }, { $set: { readers } });
  await knowledge.request('POST', `/knowledgeSource/${id}/read`);
  const { readByAgents } = await knowledge.readAs([], id);
  expect(readByAgents).toHaveLength(1000);
  expect([readByAgents[0].id, readByAgents.at(-1).id]).toEqual([1001, 7]);
});

// spec: 37.10
test('writing demands manageKnowledge or manageSkills, and reading a token only', async () => {
  const { id } = await knowledge.create();
  const skill = (await knowledge.write('POST', '/skill', { name: 'x' })).json.skill.id;
  const source = { type: 'faq', name: 'n', title: 't' };
  const writes = [
    ['POST', '/knowledgeSource', source, 'manageKnowledge'],
    ['PATCH', `/knowledgeSource/${id}`, { title: 'u' }, 'manageKnowledge'],
    ['POST', '/skill', { name: 'y' }, 'manageSkills'],
    ['PATCH', `/skill/${skill}`, { name: 'z' }, 'manageSkills'],
    ['DELETE', `/skill/${skill}`, undefined, 'manageSkills'],
  ] as const;
  const reads = [
    '/knowledgeSource',
    '/knowledgeSource/archived',
    `/knowledgeSource/${id}`,
    '/skill',
    `/skill/${skill}`,
  ];
  for (const path of reads) expect((await knowledge.request('GET', path)).status, path).toBe(200);
  for (const [method, path, body, right] of writes) {
    const send = (permissions: string[]) =>
      knowledge.request(method, path, { ...(body ? { body } : {}), caller: { permissions } });
    const others = editor.permissions?.filter((one) => one !== right) ?? [];
    expect((await send(others)).status, `${method} ${path}`).toBe(403);
    expect((await send([right])).status, `${method} ${path}`).toBeLessThan(300);
  }
});
