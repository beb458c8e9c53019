import { create, toBinary } from '@bufbuild/protobuf';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { tagChangedTopic } from '@ticketing/contracts/topics.ts';
import type { Bus } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { timeOrderedId } from '@ticketing/runtime/time-ordered-id.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type KnowledgeHarness, startHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { removeDeletedTagsAgain } from './deleted-tags.ts';

let knowledge: KnowledgeHarness;
let bus: Bus;
let database: Database;

beforeAll(async () => {
  knowledge = await startHarness({ usesBus: true, variables: { ROLES: 'api,consumer' } });
  bus = await knowledge.openBus();
  database = await knowledge.openDatabase();
});
afterAll(async () => {
  await database.close();
  await bus.close();
  await knowledge.stop();
});

async function publish(tagId: number, deleted: boolean): Promise<void> {
  const id = timeOrderedId('evt');
  const value = toBinary(TagChangedSchema, create(TagChangedSchema, { eventId: id, tagId, version: 2, deleted }));
  const header = {
    id,
    type: 'tag.changed',
    source: 'test',
    subject: String(tagId),
    time: Math.floor(Date.now() / 1000),
  };
  await bus.publish(tagChangedTopic.name, [eventMessage(String(tagId), header, value)]);
}

const readTags = async (id: number) => (await knowledge.readAs([], id)).tags;

test('a deleted tag disappears from all sources, without a change of their times; a renamed one stays', async () => {
  const [first, second] = [await knowledge.create({ tags: [1, 2] }), await knowledge.create({ tags: [2, 3] })];
  await publish(1, false);
  await publish(2, true);
  await expect.poll(() => Promise.all([first, second].map(({ id }) => readTags(id)))).toEqual([[1], [3]]);
  expect((await knowledge.readAs([], first.id)).modifiedAt).toBe(first.modifiedAt);
  expect((await knowledge.request('GET', '/knowledgeSource?tag=2')).json.total).toBe(0);
});

test('a tag that is written by a request which began before its deletion is removed again, for an hour', async () => {
  await publish(4, true);
  const tags = knowledge.database.collection<{ _id: number; erasedAt: number }>('deletedTags');
  await expect.poll(() => tags.findOne({ _id: 4 })).not.toBeNull();
  const late = await knowledge.create({ tags: [4, 5] });
  const process = newProcess(database);
  await removeDeletedTagsAgain(process);
  expect(await readTags(late.id)).toEqual([5]);
  const deletedAt = 1_800_000_000;
  const at = (seconds: number) => ({ ...systemRuntime, now: () => seconds * 1000 });
  await tags.updateOne({ _id: 4 }, { $set: { erasedAt: deletedAt * 1000 } });
  await removeDeletedTagsAgain({ ...process, runtime: at(deletedAt + 3600) });
  expect(await tags.findOne({ _id: 4 })).not.toBeNull();
  await removeDeletedTagsAgain({ ...process, runtime: at(deletedAt + 3601) });
  expect(await tags.findOne({ _id: 4 })).toBeNull();
});
