import { SubchannelService } from '@ticketing/contracts/ticketing/settings/v1/subchannel_service_pb.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { service } from '../src/service.ts';
import { operator, type SettingsHarness, startHarness } from './harness.ts';

let settings: SettingsHarness;

beforeAll(async () => {
  settings = await startHarness();
});
afterAll(() => settings.stop());

const collections = ['auditPending', 'auditEntries', 'auditPoints', 'configuration'];
beforeEach(async () => {
  for (const name of collections) await settings.database.collection(name).deleteMany({});
});

async function operate(name: 'audit-export' | 'audit-verify', key?: string) {
  const lines: string[] = [];
  const left = await service.operate({ name, key }, (line) => lines.push(line), settings.environment);
  return { left, lines };
}

/** Returns the entry of each change in the exported log, in order. */
async function entries() {
  const { lines } = await operate('audit-export');
  return lines.slice(1).map((line) => {
    const { actor, method, subject, fields, outcome } = JSON.parse(line);
    return [`${actor.kind} ${actor.id}`, method.split('.').at(-1), subject.kind, subject.ids, fields, outcome];
  });
}

const post = (body: object, headers = {}) => settings.write('POST', '/settings/subchannel', body, { headers });
const hidden = { address: 'customer@example.com', name: 'Erika Mustermann', password: 'hidden-1' };

// asvs: 16.2.1
test('who creates, changes and deletes is recorded with ids and names of fields, over REST and RPC', async () => {
  const { id } = (await post({ channel: 'chat', name: 'Secret name', data: hidden })).json;
  await settings.write('PATCH', `/settings/subchannel/${id}`, { name: 'Other name', enabled: false });
  await settings.write('POST', '/settings', {
    settings: [
      { name: 'routingOrder', value: 'prioritySla' },
      { name: 'aiBaseUrl', value: 'https://example.com/hidden' },
    ],
  });
  const rpc = await settings.openClient(SubchannelService, {
    caller: { ...operator, kind: 'serviceWorker', profileId: 44 },
  });
  await rpc.deleteSubchannel({ id });
  const recorded = await entries();
  expect(recorded).toEqual([
    ['user 7', 'CreateSubchannel', 'Subchannel', [String(id)], [], 'done'],
    ['user 7', 'UpdateSubchannel', 'Subchannel', [String(id)], ['name', 'enabled'], 'done'],
    ['user 7', 'UpdateSettings', 'Setting', ['routingOrder', 'aiBaseUrl'], [], 'done'],
    ['serviceWorker 44', 'DeleteSubchannel', 'Subchannel', [String(id)], [], 'done'],
  ]);
  const stored = JSON.stringify(await settings.database.collection('auditEntries').find().toArray());
  for (const text of ['Secret', 'Other', 'example.com', 'Erika', 'hidden']) expect(stored).not.toContain(text);
});

test('what is refused, read, or sent again with its key is not recorded', async () => {
  const headers = { 'idempotency-key': 'create-once' };
  expect((await post({ channel: 'chat', name: 'Chat' }, headers)).status).toBe(201);
  expect((await post({ channel: 'chat', name: 'Chat' }, headers)).status).toBe(201);
  expect((await settings.write('DELETE', '/settings/subchannel/99999')).status).toBe(404);
  expect((await settings.write('PUT', '/settings/nothing', { value: 1 })).status).toBe(404);
  expect((await settings.request('POST', '/settings/subchannel', { body: {} })).status).toBe(403);
  await settings.request('GET', '/settings/subchannel');
  expect(await entries()).toHaveLength(1);
  expect(await settings.database.collection('auditPending').countDocuments()).toBe(0);
});

// guarantee: C11
test('a check finds an entry that was changed, and one that was rewritten with a new chain', async () => {
  await post({ channel: 'chat', name: 'A' });
  await post({ channel: 'chat', name: 'B' });
  const { left, lines } = await operate('audit-verify');
  expect(left).toBe(0);
  const [, point] = /^settings: 2 entries, up to (2:[0-9a-f]{64}): nothing was changed$/.exec(lines[0] ?? '') ?? [];
  expect(point).toBeDefined();
  const stored = settings.database.collection<{ _id: number }>('auditEntries');
  await stored.updateOne({ _id: 1 }, { $set: { 'actor.id': '8' } });
  expect(await operate('audit-verify', point)).toMatchObject({
    left: 1,
    lines: [expect.stringContaining('THE LOG IS NOT AS IT WAS'), 'settings: entry 1 was changed'],
  });
  for (const name of collections) await settings.database.collection(name).deleteMany({});
  await post({ channel: 'chat', name: 'A' });
  await post({ channel: 'chat', name: 'B' });
  expect((await operate('audit-verify')).left).toBe(0);
  expect((await operate('audit-verify', point)).lines.at(-1)).toBe(
    'settings: entry 2 is not the one that was there before',
  );
  await expect(operate('audit-verify', '2:xyz')).rejects.toThrow('is no point');
});

// guarantee: C11
test('no change is without its entry, whenever the process dies', async () => {
  const isThere = async () => {
    const [document] = await settings.database.collection('configuration').find().toArray();
    return JSON.stringify(document?.values ?? '').includes('prioritySla');
  };
  const writes = await crashAtEachWrite(async (nth, when) => {
    for (const name of collections) await settings.database.collection(name).deleteMany({});
    const change = () => settings.write('PUT', '/settings/routingOrder', { value: 'prioritySla' });
    const hasCrashed = await crashAtWrite(nth, when, change, { isWholeProcess: true });
    // As if the process had died two minutes ago.
    await settings.database.collection('auditPending').updateMany({}, { $set: { at: new Date(0) } });
    const recorded = await entries();
    if (await isThere()) expect(recorded).toHaveLength(1);
    // The entry of a request whose end is unknown says so; a change whose entry is `done` was made.
    if (recorded.some((entry) => entry.includes('done'))) expect(await isThere()).toBe(true);
    expect((await operate('audit-verify')).left).toBe(0);
    return hasCrashed;
  });
  expect(writes).toBeGreaterThanOrEqual(3);
});
