import { create } from '@bufbuild/protobuf';
import {
  CreateTagRequestSchema,
  DeleteTagRequestSchema,
  UpdateTagRequestSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import mongoose from 'mongoose';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { cleanUpDeletedTags } from './tags.ts';

let tickets: TicketsHarness;
let database: Database;

beforeAll(async () => {
  // Without the scheduler, which would finish what these tests leave unfinished.
  tickets = await startHarness({ variables: { ROLES: 'api' } });
  database = await tickets.openDatabase();
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await database.close();
  await tickets.stop();
});

const call = testCall({ roleId: 1 });

const caller = { roleId: 1 };
const post = async (body: object): Promise<number> => (await tickets.request('POST', '/tag', { caller, body })).json.id;
const ticketWith = async (tags: number[]): Promise<number> =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'chat', tags } })).json.id;
// biome-ignore lint/suspicious/noExplicitAny: tests read documents of every shape
const tagDocument = (id: number): Promise<any> =>
  tickets.database.collection<{ _id: number }>('tags').findOne({ _id: id });
const versionsIn = (document: { outbox: { version: number }[] }) => document.outbox.map(({ version }) => version);
const upTo = (version: number) => Array.from({ length: version }, (_, index) => index + 1);

test('a deletion whose process dies between any two writes is finished by another, by one change of each ticket', async () => {
  const otherTag = await post({ name: 'Bleibt' });
  const tagged = 12;
  let attempts = 0;
  const steps = await crashAtEachWrite(async (nth, when) => {
    attempts += 1;
    const id = await post({ name: `Tag ${attempts}` });
    const ticketIds = [];
    for (let index = 0; index < tagged; index++) ticketIds.push(await ticketWith(index % 2 ? [id] : [otherTag, id]));
    const request = create(DeleteTagRequestSchema, { id });
    const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).deleteTag(call, request));

    const isDeleted = (await tickets.request('GET', `/tag/${id}`)).status === 404;
    for (const ticketId of ticketIds) {
      const { json } = await tickets.request('GET', `/ticket/${ticketId}`);
      expect(json.tagIds.includes(id)).toBe(!isDeleted);
      expect(json.tags.length).toBe(json.tagIds.length);
    }

    const [left, right] = [newProcess(tickets, database), newProcess(tickets, database)];
    await Promise.all([cleanUpDeletedTags(left), cleanUpDeletedTags(right)]);
    for (const ticketId of ticketIds) {
      const document = await tickets.documentOf(ticketId);
      expect(document.tagIds.includes(id)).toBe(!isDeleted);
      expect(document.version).toBe(isDeleted ? 2 : 1);
      expect(versionsIn(document)).toEqual(upTo(document.version));
    }
    const kept = await tagDocument(id);
    expect([kept.deleted ?? false, kept.version]).toEqual([isDeleted, isDeleted ? 2 : 1]);
    expect(versionsIn(kept)).toEqual(upTo(kept.version));
    return hasDied;
  });
  // The writes: applying the last change again, the commit, the document of the tag, the tickets.
  expect(steps).toBe(3 + tagged);
});

test('the cleanup removes a deleted tag that is written to a ticket within a day, and then ends', async () => {
  const id = await post({ name: 'Spät' });
  await tickets.request('DELETE', `/tag/${id}`, { caller });
  const late = await ticketWith([]);
  const collection = tickets.database.collection<{ _id: number }>('tickets');
  const writeLate = () => collection.updateOne({ _id: late }, { $set: { tagIds: [id], minTagId: id } });
  await writeLate();
  expect((await tickets.request('GET', `/ticket/${late}`)).json.tagIds).toEqual([]);
  await cleanUpDeletedTags(newProcess(tickets, database));
  expect((await tickets.documentOf(late)).tagIds).toEqual([]);
  expect((await tagDocument(id)).cleanUpUntil).toBeDefined();

  await writeLate();
  await cleanUpDeletedTags(newProcess(tickets, database, 25));
  const { tagIds, version, outbox } = await tickets.documentOf(late);
  expect([tagIds, version]).toEqual([[], 3]);
  expect(outbox[2]).toMatchObject({ cause: 'request', actor: { profileId: 7, kind: 'user' } });
  const { outbox: _, outboxSince: __, ...left } = await tagDocument(id);
  expect(left).toEqual({ _id: id, deleted: true, version: 2 });
});

test('a creation or change whose process dies between any two writes is visible to all readers or to none', async () => {
  let attempts = 0;
  const steps = await crashAtEachWrite(async (nth, when) => {
    attempts += 1;
    const [before, after] = [`Alt ${attempts}`, `Neu ${attempts}`];
    const id = await post({ name: before });
    const request = create(UpdateTagRequestSchema, { id, updateMask: { paths: ['name'] }, name: after });
    const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).updateTag(call, request));
    const { name } = (await tickets.request('GET', `/tag/${id}`)).json;
    expect([before, after]).toContain(name);
    expect((await newProcess(tickets, database).tags.tree()).get(id)?.name).toBe(name);
    const isTaken = async (one: string) =>
      (await tickets.request('POST', '/tag', { caller, body: { name: one } })).status === 409;
    expect([await isTaken(before), await isTaken(after)]).toEqual([name === before, name === after]);
    const document = await tagDocument(id);
    expect([document.name, document.version]).toEqual([name, name === after ? 2 : 1]);
    expect(versionsIn(document)).toEqual(upTo(document.version));
    return hasDied;
  });
  expect(steps).toBe(3);

  await crashAtEachWrite(async (nth, when) => {
    attempts += 1;
    const name = `Neu ${attempts}`;
    const request = create(CreateTagRequestSchema, { name });
    const hasDied = await crashAtWrite(nth, when, () => newProcess(tickets, database).createTag(call, request));
    const { tags } = (await tickets.request('GET', `/tag?q=${encodeURIComponent(name)}`)).json;
    const again = await tickets.request('POST', '/tag', { caller, body: { name } });
    expect(again.status).toBe(tags.length === 0 ? 200 : 409);
    await post({ name: `Danach ${attempts}` });
    if (tags.length > 0) expect(versionsIn(await tagDocument(tags[0].id))).toEqual([1]);
    return hasDied;
  });
});

// guarantee: F11
test('each of many concurrent tag changes whose process dies between any two writes is visible to all readers or to none', async () => {
  let attempts = 0;
  await crashAtEachWrite(async (nth, when) => {
    attempts += 1;
    const old = await Promise.all(['a', 'b'].map((name) => post({ name: `Viele ${attempts} ${name}` })));
    const context = newProcess(tickets, database);
    const rename = (id: number, name: string) =>
      context.updateTag(call, create(UpdateTagRequestSchema, { id, updateMask: { paths: ['name'] }, name }));
    const names = ['c', 'd', 'e'].map((name) => `Viele ${attempts} ${name}`);
    const hasDied = await crashAtWrite(nth, when, async () => {
      const all = [
        ...old.map((id, index) => rename(id, `Viele neu ${attempts} ${index}`)),
        // The same tag again: this change waits for the commit of the first.
        rename(old[0] as number, `Viele neuer ${attempts}`),
        ...names.map((name) => context.createTag(call, create(CreateTagRequestSchema, { name }))),
      ];
      const failed = (await Promise.allSettled(all)).find(({ status }) => status === 'rejected');
      if (failed) throw (failed as PromiseRejectedResult).reason;
    });
    // The next change, in any process, applies them.
    expect(await post({ name: `Viele danach ${attempts}` })).toBeGreaterThan(0);
    const tree = await newProcess(tickets, database).tags.tree();
    const documents = await tickets.database.collection<{ _id: number }>('tags').find({ deleted: null }).toArray();
    const shown = new Map([...tree.all()].map(({ id, name, version }) => [id, { name, version }]));
    // biome-ignore lint/suspicious/noExplicitAny: documents of every shape
    for (const { _id, name, version, outbox } of documents as any[]) {
      expect(shown.get(_id)).toEqual({ name, version });
      expect(versionsIn({ outbox })).toEqual(upTo(version));
    }
    expect(documents.length).toBe(shown.size);
    if (!hasDied) {
      expect(tree.get(old[0] as number)).toMatchObject({ name: `Viele neuer ${attempts}`, version: 3 });
      expect(names.every((name) => [...tree.all()].some((tag) => tag.name === name))).toBe(true);
    }
    return hasDied;
  });
});

test('a change that was committed but not applied to its document is applied by the next change', async () => {
  const context = newProcess(tickets, database);
  const tag = (name: string) => context.createTag(call, create(CreateTagRequestSchema, { name }));
  await tag('Vor der Störung');
  const networkError = new mongoose.mongo.MongoNetworkError('the connection broke');
  const prototype = mongoose.mongo.Collection.prototype as unknown as { bulkWrite(): Promise<unknown> };
  const broken = vi.spyOn(prototype, 'bulkWrite').mockRejectedValueOnce(
    // The driver throws a connection error in this form, without the failed writes.
    new mongoose.mongo.MongoBulkWriteError(networkError as never, {} as never),
  );
  await expect(tag('Zuerst die Leitung')).rejects.toMatchObject({ reason: 'store_unavailable' });
  broken.mockRestore();
  const { id } = await tag('Danach die nächste');
  const tree = await newProcess(tickets, database).tags.tree();
  const committed = [...tree.all()].find(({ name }) => name === 'Zuerst die Leitung');
  expect(versionsIn(await tagDocument(committed?.id ?? 0))).toEqual([1]);
  expect(versionsIn(await tagDocument(id))).toEqual([1]);
});
