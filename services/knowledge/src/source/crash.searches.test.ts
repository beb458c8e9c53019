import { create } from '@bufbuild/protobuf';
import {
  CreateKnowledgeSourceRequestSchema,
  UpdateKnowledgeSourceRequestSchema,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { KnowledgeStatus, KnowledgeType } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { editorCall as call, type KnowledgeHarness, startHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { createKnowledgeSource } from './create.ts';
import { erasePendingResponses } from './delete.ts';
import { getKnowledgeSource } from './get.ts';
import { updateKnowledgeSource } from './update.ts';

let knowledge: KnowledgeHarness;
let database: Database;

beforeAll(async () => {
  knowledge = await startHarness();
  database = await knowledge.openDatabase();
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await database.close();
  await knowledge.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: tests read documents of every shape
const documents = (filter: object): Promise<any[]> => knowledge.database.collection('sources').find(filter).toArray();
const toDocument = async (id: number) => (await documents({ _id: id }))[0];
const read = async (id: number) => (await knowledge.write('GET', `/knowledgeSource/${id}`)).json;
const found = async (q: string): Promise<number[]> =>
  (await knowledge.write('GET', `/knowledgeSource?q=${q}`)).json.knowledgeSources.map(({ id }: { id: number }) => id);
const update = (id: number, fields: object) =>
  create(UpdateKnowledgeSourceRequestSchema, { id, updateMask: { paths: Object.keys(fields) }, ...fields });
const newSource = (fields: object) =>
  create(CreateKnowledgeSourceRequestSchema, { type: KnowledgeType.FAQ, name: 'n', title: 't', ...fields });
/** Expects that no uncommitted change is left after the next change of any source and a cleanup. */
async function expectNothingAbandoned(): Promise<void> {
  await knowledge.create();
  const process = newProcess(database);
  await process.sources.removeAbandoned();
  expect(await documents({ $or: [{ version: 0 }, { next: { $exists: true } }] })).toEqual([]);
}

// guarantee: K3
test('a creation whose process dies between any two writes is visible to all readers or to none', async () => {
  const above = await knowledge.create({ teams: [1] });
  let attempts = 0;
  const steps = await crashAtEachWrite(async (nth, when) => {
    attempts += 1;
    const title = `neu${attempts}x`;
    const hasDied = await crashAtWrite(nth, when, () =>
      createKnowledgeSource(newProcess(database), call, newSource({ title, text: 'Geheimnis', parent: above.id })),
    );
    const ids = await found(title);
    const documentsThen = await documents({ title });
    expect(documentsThen.map(({ _id }) => _id)).toEqual(ids);
    const [id] = ids;
    if (id !== undefined) expect(await read(id)).toMatchObject({ title, text: 'Geheimnis', parent: above.id });
    const deletion = await knowledge.write('PATCH', `/knowledgeSource/${above.id}`, { status: 'deleted' });
    expect([deletion.status, hasDied || id !== undefined]).toEqual([id === undefined ? 200 : 409, true]);
    if (id === undefined) Object.assign(above, await knowledge.create({ teams: [1] }));
    await expectNothingAbandoned();
    if (id !== undefined) await knowledge.write('PATCH', `/knowledgeSource/${id}`, { status: 'deleted' });
    return hasDied;
  });
  // The id, the prepared source, the commit, the source; more if a write is repeated.
  expect(steps).toBeGreaterThanOrEqual(4);
});

// guarantee: K3
test('a change whose process dies between any two writes is made as a whole or not at all', async () => {
  const closed = await knowledge.create({ teams: [5] });
  let attempts = 0;
  const steps = await crashAtEachWrite(async (nth, when) => {
    attempts += 1;
    const before = await knowledge.create({ title: `alt${attempts}x`, text: 'offen' });
    const fields = { title: `neu${attempts}x`, text: 'Geheimnis', parent: closed.id };
    const hasDied = await crashAtWrite(nth, when, () =>
      updateKnowledgeSource(newProcess(database), call, update(before.id, fields)),
    );
    const fresh = newProcess(database);
    const { knowledgeSource } = await getKnowledgeSource(
      fresh,
      { ...call, caller: { ...call.caller, teams: [5] } },
      before,
    );
    const isChanged = knowledgeSource?.title === fields.title;
    expect(knowledgeSource).toMatchObject(isChanged ? fields : { title: `alt${attempts}x`, text: 'offen' });
    const after = await read(before.id);
    expect([after.title, after.text, after.parent]).toEqual(
      isChanged ? [fields.title, '', closed.id] : [`alt${attempts}x`, 'offen', null],
    );
    expect(await found(isChanged ? fields.title : `alt${attempts}x`)).toEqual([before.id]);
    expect(await found(isChanged ? `alt${attempts}x` : fields.title)).toEqual([]);
    await expectNothingAbandoned();
    return hasDied;
  });
  expect(steps).toBeGreaterThanOrEqual(3);
});

// guarantee: K3
test('a deletion whose process dies between any two writes has happened or not, and its stored responses are erased', async () => {
  let attempts = 0;
  const steps = await crashAtEachWrite(async (nth, when) => {
    attempts += 1;
    const key = { headers: { 'idempotency-key': `crash-${attempts}` } };
    const body = { type: 'faq', name: 'n', title: 'weg', text: 'Geheimnis' };
    const { json } = await knowledge.write('POST', '/knowledgeSource', body, key);
    const request = update(json.id, { status: KnowledgeStatus.DELETED });
    const hasDied = await crashAtWrite(nth, when, () => updateKnowledgeSource(newProcess(database), call, request));
    const isDeleted = (await read(json.id)).code === 'knowledge_source_not_found';
    const document = await toDocument(json.id);
    expect([document.deleted ?? false, document.text ?? '']).toEqual(isDeleted ? [true, ''] : [false, 'Geheimnis']);
    await erasePendingResponses(newProcess(database));
    const again = await knowledge.write('POST', '/knowledgeSource', body, key);
    expect([again.status, again.text.includes('Geheimnis')]).toEqual(isDeleted ? [404, false] : [201, true]);
    await expectNothingAbandoned();
    return hasDied;
  });
  expect(steps).toBeGreaterThanOrEqual(5);
});

// guarantee: K3
test('a creation and a deletion that are sent again after their process died are made once', async () => {
  const reserved = await newProcess(database).sourceIds.next();
  const idempotency = {
    id: 'request-1',
    reserve: async () => reserved,
    reserved: () => undefined,
    addSubject: () => undefined,
  };
  const again = { ...call, idempotency } as typeof call;
  const request = newSource({ title: 'einmal' });
  for (let attempt = 0; attempt < 3; attempt++) {
    const { knowledgeSource } = await createKnowledgeSource(newProcess(database), again, request);
    expect(knowledgeSource?.id).toBe(reserved);
  }
  expect((await toDocument(reserved)).version).toBe(1);
  const deletion = update(reserved, { status: KnowledgeStatus.DELETED });
  for (let attempt = 0; attempt < 2; attempt++) {
    const { knowledgeSource } = await updateKnowledgeSource(newProcess(database), again, deletion);
    expect(knowledgeSource?.status).toBe(KnowledgeStatus.DELETED);
  }
  const other = { ...call, idempotency: { ...idempotency, id: 'request-2' } } as typeof call;
  const notFound = { reason: 'knowledge_source_not_found' };
  await expect(updateKnowledgeSource(newProcess(database), other, deletion)).rejects.toMatchObject(notFound);
  await expect(createKnowledgeSource(newProcess(database), again, request)).rejects.toMatchObject(notFound);
  expect(await toDocument(reserved)).toMatchObject({ version: 2, deleted: true });
});

// guarantee: K3
test('what a process that has died has prepared for the next revision does not keep others from changing the source', async () => {
  const { id } = await knowledge.create();
  // Prepared, and died before the commit.
  await crashAtWrite(1, 'after', () => updateKnowledgeSource(newProcess(database), call, update(id, { title: 'nie' })));
  expect((await toDocument(id)).next.fields.title).toBe('nie');
  const changed = await knowledge.write('PATCH', `/knowledgeSource/${id}`, { title: 'doch' });
  expect(changed.json.knowledgeSource.title).toBe('doch');
  expect((await toDocument(id)).next).toBeUndefined();
});

// guarantee: K2
// asvs: 15.4.2
test('a child and the deletion of its parent at the same time, in several processes, leave no orphan', async () => {
  const processes = [newProcess(database), newProcess(database), newProcess(database)];
  for (let round = 0; round < 60; round++) {
    const above = await knowledge.create();
    const requests = [
      ...processes.map((process) => createKnowledgeSource(process, call, newSource({ parent: above.id }))),
      updateKnowledgeSource(newProcess(database), call, update(above.id, { status: KnowledgeStatus.DELETED })),
    ];
    const ends = await Promise.allSettled(requests);
    const isDeleted = (await read(above.id)).code !== undefined;
    const children = await documents({ parent: above.id });
    expect(ends[3]?.status).toBe(isDeleted ? 'fulfilled' : 'rejected');
    expect(children).toHaveLength(
      isDeleted ? 0 : ends.slice(0, 3).filter(({ status }) => status === 'fulfilled').length,
    );
    if (!isDeleted) expect(children.length).toBeGreaterThan(0);
  }
});

// guarantee: K2
test('moves at the same time, in several processes, make no cycle', async () => {
  const processes = [newProcess(database), newProcess(database), newProcess(database)];
  for (let round = 0; round < 60; round++) {
    const ids = (await Promise.all(processes.map(() => knowledge.create()))).map(({ id }) => id);
    const moves = ids.map((id, index) =>
      updateKnowledgeSource(
        processes[index] ?? newProcess(database),
        call,
        update(id, { parent: ids[(index + 1) % 3] }),
      ),
    );
    const ends = await Promise.allSettled(moves);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    const parents = await Promise.all(ids.map(async (id) => (await read(id)).parent));
    expect(parents.filter((parent) => parent === null)).toHaveLength(1);
  }
});

test('many changes of the same sources in several processes are each made once, in one order', async () => {
  const processes = [newProcess(database), newProcess(database)];
  const { id } = await knowledge.create();
  const changes = Array.from({ length: 100 }, (_, index) =>
    updateKnowledgeSource(processes[index % 2] ?? newProcess(database), call, update(id, { title: `Titel ${index}` })),
  );
  await Promise.all(changes);
  const document = await toDocument(id);
  expect(document.version).toBe(1 + changes.length);
  expect(document.title).toMatch(/^Titel \d+$/);
});
