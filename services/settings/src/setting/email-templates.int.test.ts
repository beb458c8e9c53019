import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { operator, type SettingsHarness, startHarness } from '../../test/harness.ts';

let settings: SettingsHarness;

beforeAll(async () => {
  settings = await startHarness();
});
afterEach(async () => {
  await settings.database.collection('configuration').deleteMany({});
  settings.model.emailTemplateIds = new Set([1, 2]);
  settings.model.isUnavailable = false;
  delete settings.model.beforeTemplate;
});
afterAll(() => settings.stop());

const path = '/settings/subchannel';
const create = (name: string, emailTemplateId?: number | null) =>
  settings.write('POST', path, { channel: 'email', name, emailTemplateId });
const patch = (id: number, body: object) => settings.write('PATCH', `${path}/${id}`, body);
const setGeneric = (value: number | null) => settings.write('PUT', '/settings/genericTemplateId', { value });
const document = () => settings.database.collection('configuration').findOne();
const generic = async () => {
  const { json } = await settings.request('GET', '/settings');
  return json.settings.find(({ name }: { name: string }) => name === 'genericTemplateId').value;
};
const named = async (): Promise<(number | null)[]> =>
  (await settings.request('GET', path)).json.subchannels.map(
    ({ emailTemplateId }: { emailTemplateId: number | null }) => emailTemplateId,
  );

test('a subchannel names an e-mail template, another one, and none; services get its id', async () => {
  settings.model.emailTemplateIds = new Set([1, 2]);
  const { json, status } = await create('A', 1);
  expect([status, json.emailTemplateId]).toEqual([201, 1]);
  await create('B');
  const client = await settings.openClient(ConfigurationService);
  const configured = async () =>
    (await client.getConfiguration({})).configuration?.subchannels.map(({ emailTemplateId }) => emailTemplateId);
  expect(await configured()).toEqual([1, undefined]);
  expect((await patch(json.id, { emailTemplateId: 2 })).json.subchannel.emailTemplateId).toBe(2);
  expect((await patch(json.id, { name: 'C' })).json.subchannel.emailTemplateId).toBe(2);
  expect(await configured()).toEqual([2, undefined]);
  expect((await patch(json.id, { emailTemplateId: null })).json.subchannel.emailTemplateId).toBeNull();
  expect(await configured()).toEqual([undefined, undefined]);
});

test('an unknown e-mail template is 400 at its place, and nothing changes', async () => {
  const { json } = await create('A', 1);
  const before = await document();
  expect(violationsOf(await create('B', 3))).toEqual(['#/emailTemplateId unknown_template']);
  expect(violationsOf(await patch(json.id, { name: 'X', emailTemplateId: 3 }))).toEqual([
    '#/emailTemplateId unknown_template',
  ]);
  const several = [
    { name: 'lastAgentRouting', value: true },
    { name: 'genericTemplateId', value: 3 },
  ];
  expect(violationsOf(await settings.write('POST', '/settings', { settings: several }))).toEqual([
    '#/settings/1/value unknown_template',
  ]);
  expect(await document()).toEqual(before);
});

test('while the templates service is unavailable an id is 503 and changes nothing; other changes go on', async () => {
  const { json } = await create('A', 1);
  const before = await document();
  settings.model.isUnavailable = true;
  const refused = [await create('B', 1), await patch(json.id, { name: 'X', emailTemplateId: 2 }), await setGeneric(1)];
  for (const { json: problem, headers } of refused) {
    expect(problem).toMatchObject({ status: 503, code: 'dependency_unavailable' });
    expect(headers.get('retry-after')).toBeDefined();
  }
  expect(await document()).toEqual(before);
  expect((await patch(json.id, { name: 'B', emailTemplateId: null })).status).toBe(200);
  expect((await setGeneric(null)).status).toBe(200);
  expect((await create('C')).status).toBe(201);
});

test('the template is read by the service itself, which forwards no callers', async () => {
  const callers: string[] = [];
  settings.model.beforeTemplate = async (caller) => void callers.push(caller);
  const request = { caller: { ...operator, profileId: 42 } };
  await settings.write('PUT', '/settings/genericTemplateId', { value: 1 }, request);
  expect(callers).toEqual(['service settings']);
});

// guarantee: F15
test('a deleted e-mail template leaves subchannels and setting in one write with its event, once', async () => {
  const [first, , third] = [await create('A', 1), await create('B', 2), await create('C', 1)];
  await setGeneric(1);
  const before = await document();
  const client = await settings.openClient(ConfigurationService, { service: 'templates' });
  await client.dropEmailTemplate({ emailTemplateId: 1 });
  expect(await named()).toEqual([null, 2, null]);
  expect(await generic()).toBeNull();
  const after = await document();
  expect(after?.version).toBe(before?.version + 1);
  expect(after?.outbox.at(-1)).toMatchObject({
    version: after?.version,
    names: ['genericTemplateId'],
    subchannelIds: [first.json.id, third.json.id],
  });
  await client.dropEmailTemplate({ emailTemplateId: 1 });
  expect(await document()).toEqual(after);
});

test.each([
  ['created with', () => create('A', 1)],
  ['set as the default', () => setGeneric(1)],
  // guarantee: F15
])('an e-mail template that is deleted between its check and the write cannot be %s', async (_, write) => {
  const client = await settings.openClient(ConfigurationService, { service: 'templates' });
  settings.model.beforeTemplate = async () => void (await client.dropEmailTemplate({ emailTemplateId: 1 }));
  const refused = await write();
  expect([refused.status, refused.json.code]).toEqual([400, 'unknown_template']);
  expect(await named()).toEqual([]);
  expect(await generic()).toBeNull();
});

test('only services may say that an e-mail template is deleted', async () => {
  const token = await settings.identity.internalToken('settings', testCaller({ roleId: 1 }));
  const response = await fetch(`${settings.url}/ticketing.settings.v1.ConfigurationService/DropEmailTemplate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ emailTemplateId: 1 }),
  });
  expect(response.status).toBe(403);
});
