import { afterAll, beforeAll, expect, test } from 'vitest';
import { type KnowledgeHarness, startHarness } from './harness.ts';

let knowledge: KnowledgeHarness;

beforeAll(async () => {
  knowledge = await startHarness();
});
afterAll(() => knowledge.stop());

test('a page of large texts names a limit that fits', async () => {
  const above = await knowledge.create();
  for (let index = 0; index < 18; index++) await knowledge.create({ parent: above.id });
  // The log holds the last change, so the last change must be of a source that is not altered below.
  await knowledge.create();
  const large = { text: 'x'.repeat(1_000_000), bytes: 1_000_400 };
  await knowledge.database.collection('sources').updateMany({ parent: above.id }, { $set: large });
  // The new process has nothing in memory.
  const instance = await knowledge.startInstance();
  const url = `http://127.0.0.1:${instance.ports.http}`;
  const list = (query: string) => knowledge.request('GET', `/knowledgeSource?parent=${above.id}${query}`, { url });
  const refused = await list('');
  expect([refused.status, refused.json.code]).toEqual([400, 'page_too_large']);
  const limit = Number(/limit of (\d+) fits/.exec(refused.json.detail)?.[1]);
  const fitting = await list(`&limit=${limit}`);
  expect([fitting.status, fitting.json.knowledgeSources.length]).toEqual([200, limit]);
  await instance.stop();
});

test('a page of sources that many agents have read names a limit that fits', async () => {
  const above = await knowledge.create();
  for (let index = 0; index < 18; index++) await knowledge.create({ parent: above.id });
  const readers = Array.from({ length: 1000 }, (_, id) => ({
    id: id + 1,
    name: '字'.repeat(320),
    readAt: 1_700_000_000,
  }));
  await knowledge.database.collection('sources').updateMany({ parent: above.id }, { $set: { readers } });
  const list = (query: string) => knowledge.request('GET', `/knowledgeSource?parent=${above.id}${query}`);
  const refused = await list('');
  expect([refused.status, refused.json.code]).toEqual([400, 'page_too_large']);
  const limit = Number(/limit of (\d+) fits/.exec(refused.json.detail)?.[1]);
  const fitting = await list(`&limit=${limit}`);
  expect([fitting.status, fitting.json.knowledgeSources.length]).toEqual([200, limit]);
  expect(Buffer.byteLength(fitting.text)).toBeLessThan(16 * 1024 * 1024);
});
