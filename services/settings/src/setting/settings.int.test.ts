import { Code } from '@connectrpc/connect';
import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { knownSettings } from '@ticketing/service-kit/settings/known-settings.ts';
import { golden } from '@ticketing/testkit/golden.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type SettingsHarness, startHarness } from '../../test/harness.ts';

let settings: SettingsHarness;

beforeAll(async () => {
  settings = await startHarness();
});
afterEach(async () => {
  await settings.database.collection('configuration').deleteMany({});
});
afterAll(() => settings.stop());

const get = (path: string) => settings.request('GET', path);
const put = (name: string, value: unknown) => settings.write('PUT', `/settings/${name}`, { value });
const currentValue = async (name: string) =>
  (await get('/settings')).json.settings.find((one: { name: string }) => one.name === name).value;

// spec: 2.11, 15.2, 35.2, 35.3
test('the settings of a category are in groups, with everything that a form needs', async () => {
  await golden('settings-routing', (await get('/settings/category/routing')).json);
  await golden('settings-ai', (await get('/settings/category/ai')).json);
  expect((await get('/settings/category/webhooks')).json).toEqual({ title: 'Webhooks', groups: [] });
});

// spec: 15.1
test('every setting is declared with a category, a group, a label, a description and a type', async () => {
  const { settings: all } = (await get('/settings')).json;
  expect(all).toHaveLength(knownSettings.size);
  for (const one of all) {
    expect([one.category, one.group, one.label, one.description, one.type]).not.toContain(null);
    expect([one.category, one.group, one.label, one.description, one.type]).not.toContain('');
    expect(one.value).toEqual(one.defaultValue);
  }
});

// spec: 35.1
test('lists the settings of one category, and responds with 404 for one that does not exist', async () => {
  const { settings: all } = (await get('/settings?category=reporting')).json;
  expect(all.map(({ name }: { name: string }) => name)).toEqual(['reportingPrivacyLevel', 'defaultDateExportFormat']);
  for (const path of ['/settings?category=nothing', '/settings/category/nothing', '/settings/category/Routing']) {
    expect((await get(path)).json).toMatchObject({ status: 404, code: 'setting_category_not_found' });
  }
});

// spec: 15.3
test('a value is set, read, and put back to its default by null', async () => {
  const set = await put('routingOrder', 'prioritySla');
  expect(set.json).toMatchObject({ success: true, setting: { name: 'routingOrder', value: 'prioritySla' } });
  expect(await currentValue('routingOrder')).toBe('prioritySla');
  expect((await put('routingOrder', null)).json.setting.value).toBe('sla');
  expect(await currentValue('routingOrder')).toBe('sla');
});

describe('a value', () => {
  test.each([
    ['lastAgentRouting', 'yes', '#/value wrong_type'],
    ['routingOrder', 'random', '#/value not_allowed'],
    ['routingOrder', 3, '#/value wrong_type'],
    ['spamDetectionTagId', 0, '#/value out_of_range'],
    ['spamDetectionTagId', 1.5, '#/value wrong_type'],
    ['spamDetectionTagId', 7, '#/value unknown_tag'],
    ['genericTemplateId', 7, '#/value unknown_template'],
    ['aiModel', '', '#/value too_short'],
    ['aiModel', 'x'.repeat(321), '#/value too_long'],
    ['aiBaseUrl', 'not a url', '#/value invalid_format'],
    ['aiBaseUrl', 'https://10.0.0.1/v1', '#/value address_refused'],
    ['erpBaseUrl', 'https://user:word@erp.example', '#/value user_info'],
    ['mailFrom', 'nobody', '#/value invalid_format'],
    ['aiApiKey', 5, '#/value wrong_type'],
    [
      'businessHours',
      { timeZone: 'Mars/Olympus', days: { mon: [['08:00', '17:00']] } },
      '#/value/timeZone invalid_value',
    ],
    ['businessHours', { timeZone: 'UTC', days: { mon: [['17:00', '08:00']] } }, '#/value/days/mon invalid_value'],
    ['programmaticHeaderRules', { 'X-Loop': [] }, '#/value/X-Loop invalid_value'],
    ['defaultCountry', 'XX', '#/value invalid_value'],
    ['defaultCountry', 'Germany', '#/value invalid_format'],
  ])('that does not fit %s is refused: %j', async (name, value, violation) => {
    const refused = await put(name, value);
    expect(refused.status).toBe(400);
    expect(violationsOf(refused)).toEqual([violation]);
    expect(await settings.database.collection('configuration').countDocuments()).toBe(0);
  });

  test.each([
    ['lastAgentRouting', true],
    ['spamDetectionTagId', 7],
    ['genericTemplateId', 3],
    ['aiModel', 'x'.repeat(320)],
    ['aiBaseUrl', 'https://ai.example/v1'],
    ['mailFrom', 'service@example.com'],
    ['businessHours', { timeZone: 'UTC', days: { sun: [['00:00', '24:00']] }, holidays: ['2028-02-29'] }],
    ['programmaticHeaderRules', { 'X-Loop': true, Precedence: ['bulk'] }],
    ['defaultCountry', 'AT'],
    // spec: 15.3
  ])('that fits %s is stored: %j', async (name, value) => {
    settings.model.tagIds = new Set([7]);
    settings.model.emailTemplateIds = new Set([3]);
    expect((await put(name, value)).json.setting.value).toEqual(value);
    expect(await currentValue(name)).toEqual(value);
    settings.model.tagIds.clear();
    settings.model.emailTemplateIds.clear();
  });

  test('must be given', async () => {
    const refused = await settings.write('PUT', '/settings/aiModel', {});
    expect(violationsOf(refused)).toEqual(['#/value required']);
  });
});

test('an unknown setting is 404, and a reader may not write', async () => {
  expect((await put('colourOfTheSky', 1)).json).toMatchObject({ status: 404, code: 'setting_not_found' });
  const refused = await settings.request('PUT', '/settings/aiModel', { body: { value: 'x' } });
  expect(refused.status).toBe(403);
});

test.each([
  ['a tag', 'spamDetectionTagId'],
  ['an e-mail template', 'genericTemplateId'],
])('%s cannot be checked while its service is unavailable: 503, and nothing changes', async (_, name) => {
  settings.model.isUnavailable = true;
  const refused = await put(name, 7);
  settings.model.isUnavailable = false;
  expect(refused.json).toMatchObject({ status: 503, code: 'dependency_unavailable' });
  expect(refused.headers.get('retry-after')).toBeDefined();
  expect(await currentValue(name)).toBeNull();
});

test('several values are set all or none', async () => {
  const post = (given: object[]) => settings.write('POST', '/settings', { settings: given });
  const refused = await post([
    { name: 'lastAgentRouting', value: true },
    { name: 'routingOrder', value: 'random' },
  ]);
  expect(violationsOf(refused)).toEqual(['#/settings/1/value not_allowed']);
  expect(await currentValue('lastAgentRouting')).toBe(false);
  const twice = await post([
    { name: 'aiModel', value: 'a' },
    { name: 'aiModel', value: 'b' },
  ]);
  expect(violationsOf(twice)).toEqual(['#/settings/1/value duplicate_setting']);
  const set = await post([
    { name: 'routingOrder', value: 'priorityOldest' },
    { name: 'lastAgentRouting', value: true },
  ]);
  expect(set.json.settings.map(({ value }: { value: unknown }) => value)).toEqual(['priorityOldest', true]);
});

test('concurrent changes of different settings are all kept', async () => {
  const names = ['aiModel', 'mailFrom', 'aiBaseUrl', 'erpBaseUrl'];
  const values: Record<string, string> = {
    aiModel: 'm',
    mailFrom: 'a@example.com',
    aiBaseUrl: 'https://a.example',
    erpBaseUrl: 'https://b.example',
  };
  const second = await settings.startInstance();
  const url = `http://127.0.0.1:${second.ports.http}`;
  const responses = await Promise.all(
    names.map((name, index) =>
      settings.write('PUT', `/settings/${name}`, { value: values[name] }, index % 2 === 0 ? {} : { url }),
    ),
  );
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  for (const name of names) expect(await currentValue(name)).toBe(values[name]);
  await second.stop();
});

describe('a secret', () => {
  const secret = 'sk-very-secret-4711';

  test('is never returned, is encrypted in the store, and reaches services only', async () => {
    const set = await put('aiApiKey', secret);
    expect(set.json.setting).toMatchObject({ value: null, defaultValue: null, config: { isSet: true } });
    expect(await currentValue('aiApiKey')).toBeNull();
    expect(JSON.stringify(await settings.database.collection('configuration').find().toArray())).not.toContain(secret);
    const client = await settings.openClient(ConfigurationService);
    const intents = await settings.openClient(ConfigurationService, { service: 'intents' });
    expect((await intents.getSecrets({ names: ['aiApiKey'] })).secrets).toEqual({ aiApiKey: secret });
    expect(JSON.stringify((await client.getConfiguration({})).configuration?.settings)).not.toContain(secret);
  });

  test.each([
    ['intents', ['aiApiKey', 'erpToken']],
    ['intents', ['constructor']],
    ['intents', ['__proto__']],
    ['intents', ['aiModel']],
    ['tickets', ['aiApiKey']],
    ['knowledge', ['aiApiKey']],
    ['reporting', ['aiApiKey']],
    // guarantee: C12
  ])('is not given to %s, which asks for %s', async (service, names) => {
    await put('aiApiKey', secret);
    const client = await settings.openClient(ConfigurationService, { service });
    const code = service === 'knowledge' ? Code.Unauthenticated : Code.PermissionDenied;
    await expect(client.getSecrets({ names })).rejects.toMatchObject({ code });
  });

  test('that is set again to the same value changes nothing', async () => {
    await put('aiApiKey', secret);
    const before = await settings.database.collection('configuration').findOne();
    await put('aiApiKey', secret);
    expect(await settings.database.collection('configuration').findOne()).toEqual(before);
    expect((await put('aiApiKey', null)).json.setting.config.isSet).toBe(false);
  });

  test.each([
    ['aiBaseUrl', 'aiApiKey', 'intents'],
    ['erpBaseUrl', 'erpToken', 'tickets'],
  ])('is not sent to another server than it was set for: %s', async (url, name, service) => {
    const secretNow = async () => {
      const client = await settings.openClient(ConfigurationService, { service });
      const { secrets } = await client.getSecrets({ names: [name] });
      return secrets[name];
    };
    await put(name, secret);
    await put(url, 'https://ai.example.com/v1');
    await put(url, 'https://ai.example.com/v2');
    expect(await secretNow()).toBe(secret);
    await put(url, 'https://evil.example.com/v2');
    expect(await secretNow()).toBeUndefined();
    const both = [
      { name: url, value: 'https://ai.example.com/v1' },
      { name, value: secret },
    ];
    expect((await settings.write('POST', '/settings', { settings: both })).status).toBe(200);
    expect(await secretNow()).toBe(secret);
    await put(url, null);
    expect(await secretNow()).toBeUndefined();
    await put(name, null);
  });
});
