import { create, toBinary } from '@bufbuild/protobuf';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { tagChangedTopic } from '@ticketing/contracts/topics.ts';
import type { Bus } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type IntentsHarness, startHarness } from '../../test/harness.ts';

let intents: IntentsHarness;
let bus: Bus;

beforeAll(async () => {
  intents = await startHarness({ variables: { ROLES: 'api,consumer' }, usesBus: true });
  bus = await intents.openBus();
});
afterAll(async () => {
  await bus.close();
  await intents.stop();
});

let lastEvent = 0;

async function publishTag(tagId: number, version: number, deleted: boolean): Promise<void> {
  const eventId = `evt_${++lastEvent}`;
  const event = create(TagChangedSchema, { eventId, tagId, version, deleted });
  const envelope = { id: eventId, type: 'tag.changed', source: 'test', subject: String(tagId), time: 0 };
  await bus.publish(tagChangedTopic.name, [eventMessage(String(tagId), envelope, toBinary(TagChangedSchema, event))]);
}

const post = async (fields: object) => (await intents.manage('POST', '/aiAgent', { name: 'A', ...fields })).json;
const get = async (id: number) => (await intents.manage('GET', `/aiAgent/${id}`)).json;

// guarantee: F16
test('a tag that is deleted leaves the AI agents that name it, and a tag that is changed stays', async () => {
  intents.model.tagIds = new Set([1, 2]);
  const executor = { type: 'updateTicket', fields: { status: 'closed', addTagIds: [1, 2], removeTagIds: [1] } };
  const { id, modifiedAt } = await post({ detection: { keywords: ['k'], tagIds: [1, 2] }, executor });
  await publishTag(2, 2, false);
  await publishTag(1, 3, true);
  await vi.waitFor(async () => expect((await get(id)).detection.tagIds).toEqual([2]), { timeout: 30_000 });
  const agent = await get(id);
  expect(agent.executor.fields).toEqual({ status: 'closed', addTagIds: [2] });
  expect(agent).toMatchObject({ detection: { keywords: ['k'] }, modifiedAt });
});

test('a tag that is deleted does not turn into the removal of all tags of a ticket', async () => {
  intents.model.tagIds = new Set([7]);
  const fields = { status: 'closed', tagIds: [7] };
  const { id } = await post({ executor: { type: 'updateTicket', fields } });
  await publishTag(7, 2, true);
  const isDropped = async () => expect((await get(id)).executor.fields).toEqual({ status: 'closed' });
  await vi.waitFor(isDropped, { timeout: 30_000 });
});

// guarantee: F16
test('a tag that is deleted while an AI agent is being saved is not in it', async () => {
  intents.model.tagIds = new Set([5]);
  intents.model.beforeResponse = async () => {
    await publishTag(5, 2, true);
    const isHandled = async () =>
      expect(await intents.database.collection('deletedTags').countDocuments({ _id: 5 as never })).toBe(1);
    await vi.waitFor(isHandled, { timeout: 30_000 });
  };
  const created = await post({ detection: { tagIds: [5] } });
  expect(created.detection.tagIds).toEqual([]);
  intents.model.beforeResponse = async () => undefined;
  const changed = await intents.manage('PATCH', `/aiAgent/${created.id}`, {
    detection: { tagIds: [5], keywords: ['k'] },
  });
  expect(changed.json.aiAgent.detection).toEqual({ tagIds: [], keywords: ['k'], minConfidence: null });
  expect((await get(created.id)).detection.tagIds).toEqual([]);
});
