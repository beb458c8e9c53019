import { create, fromJson, type JsonValue } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { ConfigurationSchema } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { defaultSettings, readSettings } from '../settings.ts';

let tickets: TicketsHarness;
let settings = defaultSettings;
let slow: number;
let quick: number;
let plain: number;

/** Settings with a value of `businessHours`, as the settings service sends them. */
const settingsWith = (businessHours: JsonValue) =>
  readSettings(create(ConfigurationSchema, { settings: { businessHours: fromJson(ValueSchema, businessHours) } }));

beforeAll(async () => {
  tickets = await startHarness({ settings: async () => settings });
  slow = await tag('Langsam', { sla: 32_400, priority: 'medium' });
  quick = await tag('Schnell', { sla: 3600, firstResponseSla: 600, priority: 'urgent' });
  plain = await tag('Ohne', {});
});
beforeEach(() => {
  settings = defaultSettings;
});
afterAll(() => tickets.stop());

const manager = { permissions: ['manageTags'] };
const tag = async (name: string, body: object): Promise<number> =>
  (await tickets.request('POST', '/tag', { caller: manager, body: { name, ...body } })).json.id;
// A Friday, an hour and a half before the offices of the default setting close.
const friday = '2026-07-03 13:30:00';
const post = async (body: object) =>
  (await tickets.request('POST', '/ticket', { body: { channel: 'chat', createdAt: friday, ...body } })).json;
const patch = async (id: number, body: object) =>
  (await tickets.request('PATCH', `/ticket/${id}`, { body })).json.ticket;

// spec: 6.39, 6.40
test('a new ticket is due by its tags in business hours, over a weekend', async () => {
  expect(await post({ tags: [slow] })).toMatchObject({
    dueBy: '2026-07-06 13:30:00',
    firstResponseDueBy: null,
    priority: 'medium',
  });
  expect(await post({ tags: [slow, quick, plain] })).toMatchObject({
    dueBy: '2026-07-03 14:30:00',
    firstResponseDueBy: '2026-07-03 13:40:00',
    priority: 'urgent',
  });
  expect(await post({ tags: [plain] })).toMatchObject({ dueBy: null, firstResponseDueBy: null, priority: 'low' });
  expect(await post({ tags: [quick], dueBy: '2030-01-01 00:00:00', priority: 'low' })).toMatchObject({
    dueBy: '2030-01-01 00:00:00',
    firstResponseDueBy: '2026-07-03 13:40:00',
    priority: 'low',
  });
});

test('the setting decides which hours count, from one ticket to the next', async () => {
  settings = settingsWith({ timeZone: 'Asia/Kolkata', days: { sat: [['10:00', '12:00']] }, holidays: ['2026-07-04'] });
  expect(await post({ tags: [quick] })).toMatchObject({ dueBy: '2026-07-11 05:30:00' });
  settings = settingsWith(null);
  expect(await post({ tags: [slow] })).toMatchObject({ dueBy: '2026-07-03 22:30:00' });
});

test('a change of tags makes deadlines only shorter and the priority only higher, in a PATCH and in a bulk', async () => {
  const { id } = await post({ tags: [slow] });
  expect(await patch(id, { tagIds: [slow, quick] })).toMatchObject({
    dueBy: '2026-07-03 14:30:00',
    firstResponseDueBy: '2026-07-03 13:40:00',
    priority: 'urgent',
  });
  expect(await patch(id, { tagIds: [slow] })).toMatchObject({ dueBy: '2026-07-03 14:30:00', priority: 'urgent' });
  const other = (await post({ tags: [slow] })).id;
  await tickets.request('PATCH', '/ticket', { body: [{ id: other, addTagIds: [quick], priority: 'high' }] });
  expect((await tickets.request('GET', `/ticket/${other}`)).json).toMatchObject({
    dueBy: '2026-07-03 14:30:00',
    priority: 'high',
  });
});

// spec: 24.5
test('a PATCH that gives a deadline wins, and one that was cleared is set again by a later change of tags', async () => {
  const { id } = await post({ tags: [slow] });
  expect(await patch(id, { tagIds: [quick], dueBy: null })).toMatchObject({
    dueBy: null,
    firstResponseDueBy: '2026-07-03 13:40:00',
  });
  expect(await patch(id, { tagIds: [quick], subchannelId: null })).toMatchObject({ dueBy: null });
  expect(await patch(id, { tagIds: [quick, plain] })).toMatchObject({ dueBy: '2026-07-03 14:30:00' });
});

test('an update by the external id does the same, and a deadline that it gives wins', async () => {
  const given = { externalTicketId: 'sla', tags: [slow] };
  await post(given);
  expect(await post({ ...given, tags: [quick] })).toMatchObject({ version: 2, dueBy: '2026-07-03 14:30:00' });
  const later = { ...given, tags: [slow, quick], dueBy: '2030-01-01 00:00:00' };
  expect(await post(later)).toMatchObject({ version: 3, dueBy: '2030-01-01 00:00:00' });
});

test('the deletion of a tag and a change of its SLA leave tickets as they are', async () => {
  const deleted = await tag('Weg', { sla: 60 });
  const { id } = await post({ tags: [deleted, slow], dueBy: '2030-01-01 00:00:00' });
  await tickets.request('PATCH', `/tag/${slow}`, { caller: manager, body: { sla: 32_401 } });
  await tickets.request('DELETE', `/tag/${deleted}`, { caller: manager });
  expect((await tickets.request('GET', `/ticket/${id}`)).json).toMatchObject({
    tagIds: [slow],
    dueBy: '2030-01-01 00:00:00',
    version: 2,
  });
  expect(await patch(id, { tagIds: [slow, plain] })).toMatchObject({ dueBy: '2026-07-06 13:30:01' });
});

test('the event of a change of tags names the deadline that it has set', async () => {
  const { id } = await post({ tags: [slow] });
  await patch(id, { tagIds: [quick] });
  const { outbox } = await tickets.documentOf(id);
  expect(
    outbox
      .at(-1)
      .changes.map(({ field }: { field: string }) => field)
      .toSorted(),
  ).toEqual(['dueBy', 'firstResponseDueBy', 'priority', 'tagIds']);
});
