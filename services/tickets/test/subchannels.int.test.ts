import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { KnownSubchannel } from '../src/domain/subchannels.ts';
import { defaultSettings } from '../src/settings.ts';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;
const mailbox = { channel: Channel.EMAIL, name: 'Mailbox' };
const known = new Map<number, KnownSubchannel>();
let isKnown = true;
/** Whether only a fresh read knows the subchannels. */
let isStale = false;

beforeAll(async () => {
  tickets = await startHarness({
    settings: async (fresh) => {
      const subchannels = isStale && !fresh ? new Map() : new Map(known);
      return { ...defaultSettings, subchannels: isKnown ? subchannels : undefined };
    },
  });
});
beforeEach(() => {
  isKnown = true;
  known.clear();
  known.set(1, { ...mailbox, enabled: true, interface: 'imap' });
  known.set(2, { ...mailbox, enabled: false, interface: 'imap' });
  known.set(3, { ...mailbox, enabled: true, interface: 'web' });
});
afterAll(() => tickets.stop());

const post = (body: object) => tickets.request('POST', '/ticket', { body: { channel: 'email', ...body } });
const patch = (id: number, body: object) => tickets.request('PATCH', `/ticket/${id}`, { body });
const bulk = (body: object[]) => tickets.request('PATCH', '/ticket', { body });
const read = async (id: number) => (await tickets.request('GET', `/ticket/${id}`)).json;

test('a ticket has the interface of its subchannel', async () => {
  const { json } = await post({ subchannelId: 1 });
  expect(json).toMatchObject({ subchannelId: 1, interface: 'imap' });
  expect((await patch(json.id, { subchannelId: 3 })).json.ticket).toMatchObject({ subchannelId: 3, interface: 'web' });
  expect((await patch(json.id, { subchannelId: null })).json.ticket).toMatchObject({
    subchannelId: null,
    interface: 'internal',
  });
  await bulk([{ id: json.id, subchannelId: 1 }]);
  expect(await read(json.id)).toMatchObject({ subchannelId: 1, interface: 'imap' });
});

test('an unknown or disabled subchannel is refused, and nothing changes', async () => {
  expect(violationsOf(await post({ subchannelId: 9 }))).toEqual(['#/subchannelId unknown_subchannel']);
  expect(violationsOf(await post({ subchannelId: 2 }))).toEqual(['#/subchannelId subchannel_disabled']);
  const { json } = await post({ subchannelId: 1 });
  expect(violationsOf(await patch(json.id, { subchannelId: 9 }))).toEqual(['#/subchannelId unknown_subchannel']);
  expect(
    violationsOf(
      await bulk([
        { id: json.id, status: 'closed' },
        { id: json.id, subchannelId: 2 },
      ]),
    ),
  ).toContain('#/1/subchannelId subchannel_disabled');
  expect(await read(json.id)).toMatchObject({ subchannelId: 1, status: 'open', version: 1 });
});

test('before the settings were ever read, a subchannel is 503; without one everything works', async () => {
  isKnown = false;
  const refused = await post({ subchannelId: 1 });
  expect(refused.json).toMatchObject({ status: 503, code: 'settings_unavailable' });
  expect((await post({})).status).toBe(200);
});

test('a deleted subchannel reads as unset, and is dropped with the next change', async () => {
  const { json } = await post({ subchannelId: 1 });
  known.delete(1);
  expect(await read(json.id)).toMatchObject({ subchannelId: null, version: 1 });
  expect((await tickets.documentOf(json.id)).subchannelId).toBe(1);
  await patch(json.id, { priority: 'high' });
  const stored = await tickets.documentOf(json.id);
  expect(stored).toMatchObject({ subchannelId: null, version: 2 });
  expect(stored.outbox[1].changes).toEqual([expect.objectContaining({ field: 'priority' })]);
  expect(await read(json.id)).toMatchObject({ interface: 'internal' });
});

test('a ticket follows the interface of its subchannel', async () => {
  const { json } = await post({ subchannelId: 1 });
  known.set(1, { ...mailbox, enabled: false, interface: 'smtp' });
  expect(await read(json.id)).toMatchObject({ subchannelId: 1, interface: 'smtp' });
});

test('a subchannel that another replica knows already is not dropped', async () => {
  const { json } = await post({ subchannelId: 1 });
  isStale = true;
  await patch(json.id, { priority: 'high' });
  isStale = false;
  expect(await tickets.documentOf(json.id)).toMatchObject({ subchannelId: 1, version: 2 });
});

test('a change that changes nothing does not drop a deleted subchannel', async () => {
  const { json } = await post({ subchannelId: 1, priority: 'high' });
  known.delete(1);
  await patch(json.id, { priority: 'high' });
  expect((await tickets.documentOf(json.id)).version).toBe(1);
});
