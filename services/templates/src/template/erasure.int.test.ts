import { create, toBinary } from '@bufbuild/protobuf';
import { TagChangedSchema } from '@ticketing/contracts/ticketing/events/v1/tag_changed_pb.ts';
import { TicketChangedSchema, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { Bus } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { crashAtWrite } from '@ticketing/testkit/crash.ts';
import { holdWaits } from '@ticketing/testkit/skip-waits.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { author, startHarness, type TemplatesHarness } from '../../test/harness.ts';
import { templateDeletionStore } from './deletion-store.ts';
import { dropMissed, eraseTicket, withoutDeleted } from './drop-deleted.ts';
import { dropDeletedFromAiAgents } from './drop-from-ai-agents.ts';
import type { DeletionParts } from './open.ts';
import { templateStore } from './store.ts';

let harness: TemplatesHarness;
let bus: Bus;
let database: Database;

beforeAll(async () => {
  harness = await startHarness({ variables: { ROLES: 'api,consumer' } });
  bus = await harness.openBus();
  database = await harness.openDatabase();
});
afterEach(() => harness.empty());
afterAll(async () => {
  await database.close();
  await bus.close();
  await harness.stop();
});

let lastId = 100;
/** Returns an id that no other test uses, because the service keeps deleted ids. */
const newId = () => ++lastId;
const newTickets = (count: number) => {
  const ids = Array.from({ length: count }, newId);
  for (const id of ids) harness.model.tickets.set(id, {});
  return ids;
};
const time = 1_700_000_000;

async function deleteTicket(ticketId: number): Promise<void> {
  const eventId = `evt_${String(newId()).padStart(6, '0')}`;
  const event = create(TicketChangedSchema, { eventId, ticketId, type: TicketChangeType.TICKET_DELETED, version: 2 });
  const envelope = { id: eventId, type: 'ticket.deleted', source: 'test', subject: String(ticketId), time };
  const message = eventMessage(String(ticketId), envelope, toBinary(TicketChangedSchema, event));
  await bus.publish(ticketChangedTopic.name, [message]);
  await vi.waitFor(() => expect(harness.model.confirmed).toContain(ticketId), { timeout: 30_000 });
}

async function changeTag(tagId: number, deleted: boolean): Promise<void> {
  const eventId = `evt_${String(newId()).padStart(6, '0')}`;
  const event = create(TagChangedSchema, { eventId, tagId, version: 2, deleted });
  const envelope = { id: eventId, type: 'tag.changed', source: 'test', subject: String(tagId), time };
  const message = eventMessage(String(tagId), envelope, toBinary(TagChangedSchema, event));
  await bus.publish(tagChangedTopic.name, [message]);
}

const shown = async (id: number) => (await harness.request('GET', `/template/${id}`)).json;
const stores = () => ({
  templates: templateStore(database.connection, systemRuntime),
  erased: {
    tickets: erasedIds(database.connection, 'erasedTickets', Date.now),
    tags: erasedIds(database.connection, 'deletedTags', Date.now),
  },
});

describe('a deleted ticket', () => {
  // guarantee: E7
  it('leaves all templates, and the erasure is confirmed', async () => {
    const [kept = 0, gone = 0] = newTickets(2);
    const [first, second] = [
      await harness.create('/template', { message: 'a', exampleTicketIds: [gone, kept] }),
      await harness.create('/template', { message: 'b', exampleTicketIds: [gone] }),
    ];
    await deleteTicket(gone);
    expect((await shown(first.id)).exampleTicketIds).toEqual([kept]);
    expect((await shown(second.id)).exampleTicketIds).toEqual([]);
    expect(harness.model.confirmed).toEqual([gone]);
  });

  it('erases the stored responses that name it', async () => {
    const [id = 0] = newTickets(1);
    const send = () =>
      harness.write(
        'POST',
        '/template',
        { message: 'a', exampleTicketIds: [id] },
        {
          caller: author,
          headers: { 'idempotency-key': 'example' },
        },
      );
    const first = await send();
    expect((await send()).json).toEqual(first.json);
    await deleteTicket(id);
    const again = await send();
    expect([again.status, again.json.code]).toEqual([404, 'ticket_not_found']);
    const { templates } = (await harness.request('GET', '/template')).json;
    expect(templates).toMatchObject([{ exampleTicketIds: [] }]);
  });

  // guarantee: E7
  it('does not come back by a template that was checked before its deletion and is stored after it', async () => {
    const [id = 0, other = 0] = newTickets(2);
    const existing = await harness.create('/template', { message: 'a' });
    // The tag is read in the middle of the check: the ticket is deleted meanwhile, and still in the stub's list.
    harness.model.tagIds.add(1);
    harness.model.onTagRead = () => deleteTicket(id);
    const body = { tagId: 1, exampleTicketIds: [id, other] };
    const created = await harness.write('POST', '/template', { message: 'b', ...body });
    expect([created.status, created.json.exampleTicketIds]).toEqual([201, [other]]);
    expect(await shown(created.json.id)).toEqual(created.json);
    harness.model.onTagRead = async () => undefined;
    const changed = await harness.write('PATCH', `/template/${existing.id}`, body);
    expect(changed.json.template.exampleTicketIds).toEqual([other]);
    expect((await shown(existing.id)).exampleTicketIds).toEqual([other]);
  });

  it('leaves a template whose process died after it was stored', async () => {
    const [id = 0] = newTickets(1);
    const fields = { tagId: null, emailTemplateId: null, description: '', message: 'a', subject: null };
    const template = { id: newId(), version: 1, ...fields, exampleTicketIds: [id], attachments: [] };
    const { templates, erased } = stores();
    await eraseTicket({ templates, erased }, id);
    const hasDied = await crashAtWrite(1, 'after', async () => {
      await templates.add(template);
      await withoutDeleted({ templates, erased }, template);
    });
    expect(hasDied).toBe(true);
    expect((await shown(template.id)).exampleTicketIds).toEqual([id]);
    const run = (aheadMs: number) => dropMissed({ templates, erased }, Date.now() + aheadMs);
    await run(60 * 60_000 + 1_000);
    expect((await shown(template.id)).exampleTicketIds).toEqual([id]);
    await run(59 * 60_000);
    expect((await shown(template.id)).exampleTicketIds).toEqual([]);
    expect(await erased.tickets.among([id])).toEqual(new Set([id]));
    await run(24 * 60 * 60_000 + 1_000);
    expect(await erased.tickets.among([id])).toEqual(new Set());
  });
});

describe('a deleted tag', () => {
  it('reads as unset, and is dropped; a tag that is changed stays', async () => {
    const [deleted, renamed] = [newId(), newId()];
    harness.model.tagIds.add(deleted).add(renamed);
    const first = await harness.create('/template', { message: 'a', tagId: deleted });
    const second = await harness.create('/template', { message: 'b', tagId: renamed });
    await changeTag(renamed, false);
    await changeTag(deleted, true);
    await vi.waitFor(async () => expect((await shown(first.id)).tagId).toBeNull(), { timeout: 30_000 });
    expect((await shown(second.id)).tagId).toBe(renamed);
    expect((await harness.request('GET', `/template?tagId=${deleted}`)).json.total).toBe(0);
  });

  // guarantee: E7
  it('does not come back by a template that was checked before its deletion and is stored after it', async () => {
    const id = newId();
    harness.model.tagIds.add(id);
    const marker = await harness.create('/template', { message: 'a', tagId: id });
    harness.model.onTagRead = async () => {
      await changeTag(id, true);
      await vi.waitFor(async () => expect((await shown(marker.id)).tagId).toBeNull(), { timeout: 30_000 });
    };
    const created = await harness.write('POST', '/template', { message: 'b', tagId: id });
    expect([created.status, created.json.tagId]).toEqual([201, null]);
    expect((await shown(created.json.id)).tagId).toBeNull();
  });
});

describe('a response template that is deleted while the intents service is unavailable', () => {
  // guarantee: F17
  it('is deleted, and dropped by AI agents when that is back', async () => {
    const { id } = await harness.create('/template', { message: 'a' });
    const endPauses = holdWaits((ms) => ms === 5_000);
    const scheduler = await harness.startInstance({ TICKETING_TEMPLATES_ROLES: 'api,scheduler' });
    harness.model.isUnavailable = true;
    expect((await harness.write('DELETE', `/template/${id}`)).status).toBe(200);
    expect((await harness.request('GET', `/template/${id}`)).status).toBe(404);
    const before = harness.model.failures;
    const countFailures = () => {
      endPauses();
      return harness.model.failures;
    };
    // More than the attempts of one call, so a run of the scheduler has failed, and another has followed.
    await expect.poll(countFailures).toBeGreaterThan(before + 5);
    expect(harness.model.droppedByAgents).toEqual([]);
    harness.model.isUnavailable = false;
    const listDropped = () => {
      endPauses();
      return harness.model.droppedByAgents;
    };
    await expect.poll(listDropped).toEqual([id]);
    const deletions = harness.database.collection('templateDeletions');
    await vi.waitFor(async () => expect(await deletions.countDocuments()).toBe(0), { timeout: 30_000 });
    await scheduler.stop();
  });

  it('is forgotten as a deletion if its process died before, but not while a request may go on', async () => {
    const { id } = await harness.create('/template', { message: 'a' });
    const { connection } = database;
    const at = (aheadMs: number) => {
      const now = () => Date.now() + aheadMs;
      const deletions = templateDeletionStore(connection, now);
      return { deletions, templates: templateStore(connection, systemRuntime), runtime: { now } } as DeletionParts;
    };
    await at(0).deletions.begin(id);
    await dropDeletedFromAiAgents(at(50_000));
    expect(await at(0).deletions.oldest(10)).toMatchObject([{ id }]);
    await dropDeletedFromAiAgents(at(61_000));
    expect(await at(0).deletions.oldest(10)).toEqual([]);
  });
});
