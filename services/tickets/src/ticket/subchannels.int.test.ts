import { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { SettingsAge } from '@ticketing/service-kit/settings/settings-copy.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { defaultSettings } from '../settings.ts';
import type { KnownSubchannel } from './rules/subchannels.ts';

let tickets: TicketsHarness;
const mailbox = { channel: Channel.EMAIL, name: 'Mailbox' };
const known = new Map<number, KnownSubchannel>();
let isKnown = true;
/** The subchannels in settings that are older than `known`. */
let older: Partial<Record<SettingsAge, typeof known>> = {};
/** How often the owner of the settings was asked. */
let asked = 0;

beforeAll(async () => {
  tickets = await startHarness({
    settings: async (age = 'recent') => {
      if (age === 'owner' && !isKnown) throw new DomainError('unavailable', 'settings_unavailable', 'Not now.');
      if (age === 'owner') asked += 1;
      const subchannels = new Map(older[age] ?? known);
      return { ...defaultSettings, subchannels: isKnown ? subchannels : undefined };
    },
  });
});
beforeEach(() => {
  isKnown = true;
  older = {};
  asked = 0;
  known.clear();
  known.set(1, { ...mailbox, enabled: true, interface: 'imap' });
  known.set(2, { ...mailbox, enabled: false, interface: 'imap' });
  known.set(3, { ...mailbox, enabled: true, interface: 'web' });
});
afterAll(() => tickets.stop());

const post = (body: object) => tickets.request('POST', '/ticket', { body: { channel: 'email', ...body } });
const patch = (id: number, body: object) => tickets.request('PATCH', `/ticket/${id}`, { body });
const bulk = (body: object[]) => tickets.request('PATCH', '/ticket', { body });
const content = { message: 'Hello', type: 'text' };
const reply = (id: number, body: object = {}) =>
  tickets.request('POST', `/ticket/${id}/conversation/reply`, { body: { content, to: ['kim@example.org'], ...body } });
const store = (id: number, body: object) =>
  tickets.request('POST', `/ticket/${id}/conversation/store`, { body: { direction: 'out', content, ...body } });
const read = async (id: number) => (await tickets.request('GET', `/ticket/${id}`)).json;

// spec: 6.20
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

// spec: 6.20
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

test.each<[string, number, string]>([
  ['unknown', 5, 'unknown_subchannel'],
  ['disabled', 2, 'subchannel_disabled'],
  // guarantee: I25
])('a subchannel is refused as %s only if it is so at its owner', async (_, id, code) => {
  const { json } = await post({});
  const uses = [
    () => post({ subchannelId: id }),
    () => patch(json.id, { subchannelId: id }),
    () => bulk([{ id: json.id, subchannelId: id }]),
    () => reply(json.id, { subchannelId: id, isDraft: true }),
    () => store(json.id, { subchannelId: id }),
  ];
  for (const use of uses) expect((await use()).json).toMatchObject({ status: 400, errors: [{ code }] });
  // The copies of this service do not have it yet.
  const copy = new Map(known);
  older = { recent: copy, replicas: copy };
  known.set(id, { ...mailbox, enabled: true, interface: 'imap', address: 'service@example.org' });
  for (const [nth, use] of uses.entries()) {
    asked = 0;
    const { status, text } = await use();
    expect([200, 201], `${nth} ${text}`).toContain(status);
    expect(asked).toBeGreaterThan(0);
  }
});

test('a sender that was set a moment ago is known when a mail is refused without one', async () => {
  const { json } = await post({ subchannelId: 1 });
  expect((await reply(json.id)).json.code).toBe('no_sender');
  const copy = new Map(known);
  older = { recent: copy, replicas: copy };
  known.set(1, { ...mailbox, enabled: true, interface: 'imap', address: 'service@example.org' });
  expect((await reply(json.id)).json.conversation).toMatchObject({
    from: 'service@example.org',
    deliveryStatus: 'queued',
  });
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

test('a subchannel that another replica knows already is shown, and not dropped', async () => {
  const { json } = await post({ subchannelId: 1 });
  older = { recent: new Map() };
  expect(await read(json.id)).toMatchObject({ subchannelId: 1, interface: 'imap' });
  await patch(json.id, { priority: 'high' });
  expect(await tickets.documentOf(json.id)).toMatchObject({ subchannelId: 1, version: 2 });
});

test('a change that changes nothing does not drop a deleted subchannel', async () => {
  const { json } = await post({ subchannelId: 1, priority: 'high' });
  known.delete(1);
  await patch(json.id, { priority: 'high' });
  expect((await tickets.documentOf(json.id)).version).toBe(1);
});
