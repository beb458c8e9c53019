import { golden } from '@ticketing/testkit/golden.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { operator, type SettingsHarness, startHarness } from '../../test/harness.ts';

let settings: SettingsHarness;

beforeAll(async () => {
  settings = await startHarness();
});
afterEach(async () => {
  await settings.database.collection('configuration').deleteMany({});
});
afterAll(() => settings.stop());

const path = '/settings/subchannel';
const post = (body: object) => settings.write('POST', path, body);
const patch = (id: number, body: object) => settings.write('PATCH', `${path}/${id}`, body);
const list = async (query = '') => (await settings.request('GET', path + query)).json.subchannels;

// spec: 21.8
test('creates a subchannel with defaults and one with every field, and lists them by channel', async () => {
  const minimal = await post({ channel: 'email', name: 'Service' });
  expect(minimal.status).toBe(201);
  const { id, ...shown } = minimal.json;
  await golden('subchannel-minimal', shown);
  const full = await post({
    channel: 'chat',
    name: 'Chat',
    isDefault: true,
    interface: 'web',
    enabled: false,
    data: { address: 'chat@example.com', port: 993, user: 'u', password: 'hidden-1', nested: { apiKey: 'hidden-2' } },
  });
  await golden('subchannel-full', { ...full.json, id: 0 });
  expect(await list('?channel=chat')).toEqual([full.json]);
  expect(await list()).toEqual([minimal.json, full.json]);
  const stored = JSON.stringify(await settings.database.collection('configuration').find().toArray());
  expect(stored).not.toContain('hidden-');
});

test('a secret value that is written back as null is kept, and removed with its key', async () => {
  const { json } = await post({ channel: 'email', name: 'A', data: { user: 'u', password: 'p', token: 't' } });
  const readSecrets = async () => {
    const found = await settings.database.collection('configuration').findOne();
    return Object.keys(JSON.parse(found?.subchannels[0].secrets));
  };
  expect(json.data).toEqual({ user: 'u', password: null, token: null });
  const changed = await patch(json.id, { data: { ...json.data, user: 'v' } });
  expect(changed.json.subchannel.data).toEqual({ user: 'v', password: null, token: null });
  expect(await readSecrets()).toEqual(['/password', '/token']);
  await patch(json.id, { data: { user: 'v', password: null } });
  expect(await readSecrets()).toEqual(['/password']);
  await patch(json.id, { data: {} });
  expect(await readSecrets()).toEqual([]);
});

test('a secret in a list must be given again, because the items may have moved', async () => {
  const data = { accounts: [{ host: 'a', password: 'p' }] };
  const { json } = await post({ channel: 'email', name: 'A', data });
  const again = await patch(json.id, { data: json.data });
  expect(violationsOf(again)).toEqual(['#/data/accounts/0/password secret_required']);
  expect((await patch(json.id, { data })).status).toBe(200);
});

test('takes any JSON as data, and 50 secret values of it', async () => {
  const data = { 'a\u0000b': 1, x: { _bsontype: 'ObjectId' }, $set: { 'a.b': null } };
  expect((await post({ channel: 'email', name: 'A', data })).json.data).toEqual(data);
  const secrets = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 1]));
  expect((await post({ channel: 'email', name: 'B', data: secrets(50) })).status).toBe(201);
  expect(violationsOf(await post({ channel: 'email', name: 'C', data: secrets(51) }))).toEqual([
    '#/data too_many_secrets',
  ]);
});

test.each(['address', 'fromName', 'host'])('refuses a line break in %s of the data', async (key) => {
  const refused = await post({ channel: 'email', name: 'A', data: { [key]: 'a@b.c\r\nBcc: x@y.z' } });
  expect(violationsOf(refused)).toEqual([`#/data/${key} invalid_format`]);
});

test('refuses a name of spaces', async () => {
  expect(violationsOf(await post({ channel: 'email', name: '  ' }))).toEqual(['#/name too_short']);
});

test('a channel has one default at most', async () => {
  const first = await post({ channel: 'email', name: 'A', isDefault: true });
  await post({ channel: 'phone', name: 'A', isDefault: true });
  const second = await post({ channel: 'email', name: 'B', isDefault: true });
  const defaults = async () => (await list()).map(({ isDefault }: { isDefault: boolean }) => isDefault);
  expect(await defaults()).toEqual([false, true, true]);
  await patch(first.json.id, { isDefault: true });
  expect(await defaults()).toEqual([true, true, false]);
  expect(second.status).toBe(201);
});

test('refuses a second name of the same channel, whatever its case, and an unknown template', async () => {
  await post({ channel: 'email', name: 'Service' });
  expect((await post({ channel: 'email', name: ' SERVICE ' })).json.code).toBe('duplicate_subchannel');
  expect((await post({ channel: 'phone', name: 'Service' })).status).toBe(201);
  const other = await post({ channel: 'email', name: 'Other' });
  expect((await patch(other.json.id, { name: 'service' })).json.code).toBe('duplicate_subchannel');
  expect(violationsOf(await post({ channel: 'email', name: 'X', emailTemplateId: 3 }))).toEqual([
    '#/emailTemplateId unknown_template',
  ]);
});

test('refuses a name with a line break, and data that is too large or too deep', async () => {
  const data = (value: unknown) => post({ channel: 'email', name: 'A', data: { value } });
  expect((await post({ channel: 'email', name: 'A\r\nBcc: x' })).status).toBe(400);
  expect((await data('x'.repeat(16_384 - '{"value":""}'.length))).status).toBe(201);
  expect((await data('x'.repeat(16_385 - '{"value":""}'.length))).status).toBe(400);
  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
  expect((await data(nested(8))).status).toBe(400);
});

test('removes a subchannel; an unknown one is 404', async () => {
  const { json } = await post({ channel: 'email', name: 'A' });
  expect((await settings.write('DELETE', `${path}/${json.id}`)).json).toEqual({ success: true });
  expect(await list()).toEqual([]);
  expect((await settings.write('DELETE', `${path}/${json.id}`)).json.code).toBe('subchannel_not_found');
  expect((await patch(json.id, { name: 'B' })).status).toBe(404);
});

test('a subchannel that a webhook endpoint names cannot be removed, because the endpoint would take all tickets', async () => {
  const { json } = await post({ channel: 'email', name: 'A' });
  const caller = { permissions: ['manageWebhooks', 'updateClientSettings'] };
  const body = { url: 'http://127.0.0.1:9/hook', subchannelIds: [json.id] };
  const webhook = await settings.request('POST', '/webhook', { caller, body });
  expect((await settings.write('DELETE', `${path}/${json.id}`)).json.code).toBe('subchannel_in_use');
  await settings.request('DELETE', `/webhook/${webhook.json.id}`, { caller });
  expect((await settings.write('DELETE', `${path}/${json.id}`)).status).toBe(200);
});

test('there are at most 200 subchannels', async () => {
  await post({ channel: 'email', name: 'first' });
  const [first] = (await settings.database.collection('configuration').findOne())?.subchannels ?? [];
  const others = Array.from({ length: 198 }, (_, index) => ({ ...first, id: 10_000 + index, name: `n${index}` }));
  const fill = { $set: { subchannels: [first, ...others] } };
  await settings.database.collection('configuration').updateOne({}, fill);
  expect((await post({ channel: 'email', name: 'last' })).status).toBe(201);
  expect((await post({ channel: 'email', name: 'too many' })).json.code).toBe('too_many_subchannels');
});

test('a reader may not write, and a repeated creation with its key makes one subchannel', async () => {
  const body = { channel: 'email', name: 'A' };
  expect((await settings.request('POST', path, { body })).status).toBe(403);
  const again = () => settings.write('POST', path, body, { caller: operator, headers: { 'idempotency-key': 'once' } });
  const [first, second] = [await again(), await again()];
  expect(second.json).toEqual(first.json);
  expect(await list()).toHaveLength(1);
});
