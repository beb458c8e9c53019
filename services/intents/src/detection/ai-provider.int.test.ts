import { create, toBinary } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import { SettingChangedSchema } from '@ticketing/contracts/ticketing/events/v1/setting_changed_pb.ts';
import { AnalysisService } from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { AiProvider } from '@ticketing/contracts/ticketing/settings/v1/settings_pb.ts';
import { settingChangedTopic } from '@ticketing/contracts/topics.ts';
import type { Bus } from '@ticketing/events/bus/bus.ts';
import { eventMessage } from '@ticketing/events/bus/envelope.ts';
import { toSettings } from '@ticketing/service-kit/settings/known-settings.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type IntentsHarness, startHarness } from '../../test/harness.ts';
import { type StubModel, startStubModel } from '../../test/stub-model.ts';

/** The settings service of the test. */
const settings = {
  isAvailable: false,
  version: 1,
  values: { aiProvider: AiProvider.BUILTIN as AiProvider, aiBaseUrl: '', aiModel: 'stub-1' },
  key: 'sk-first',
  reads: 0,
};
let model: StubModel;
let intents: IntentsHarness;
let client: Client<typeof AnalysisService>;
let bus: Bus;

beforeAll(async () => {
  model = await startStubModel();
  settings.values.aiBaseUrl = model.url;
  intents = await startHarness({ variables: { ROLES: 'api,consumer' }, serveMore: serveSettings });
  client = await intents.openClient(AnalysisService);
  bus = await intents.openBus();
});
afterAll(async () => {
  await bus.close();
  await intents.stop();
  await model.stop();
});

function serveSettings(router: ConnectRouter): void {
  const requireAvailable = () => {
    settings.reads += 1;
    if (!settings.isAvailable) throw new ConnectError('unavailable', Code.Unavailable);
  };
  router.service(ConfigurationService, {
    getConfiguration() {
      requireAvailable();
      const { version, values } = settings;
      return { configuration: { version, settings: { ...toSettings({}), ...values } } };
    },
    getSecrets() {
      requireAvailable();
      return { secrets: { aiApiKey: settings.key } };
    },
  });
}

/** The provider that analyses a new ticket, by its summary. */
async function provider(): Promise<'builtin' | 'openai'> {
  const { id: ticketId } = intents.ticket();
  await client.analyseTicket({ ticketId });
  const summary = intents.model.applied.find((one) => one.ticketId === ticketId)?.text?.summary;
  expect(summary).toBeDefined();
  return summary === 'A question.' ? 'openai' : 'builtin';
}

/** Changes the settings as the settings service does, with an event. */
async function change(values: Partial<typeof settings.values>, key = settings.key): Promise<void> {
  Object.assign(settings.values, values);
  settings.key = key;
  settings.version += 1;
  const id = `evt_${settings.version}`;
  const header = { id, type: 'setting.changed', source: 'test', subject: 'settings', time: 0 };
  const value = toBinary(SettingChangedSchema, create(SettingChangedSchema, { eventId: id }));
  await bus.publish(settingChangedTopic.name, [eventMessage('settings', header, value)]);
}

const patience = { timeout: 30_000 };
const keys = () => model.requests.map(({ headers }) => headers.authorization);

// guarantee: I31
test('the provider follows the settings of the installation, and is builtin as long as they were never read', async () => {
  await expect.poll(() => settings.reads, patience).toBeGreaterThan(0);
  expect(await provider()).toBe('builtin');

  settings.isAvailable = true;
  await change({ aiProvider: AiProvider.OPENAI });
  await expect.poll(provider, patience).toBe('openai');
  expect(new Set(keys())).toEqual(new Set(['Bearer sk-first']));

  model.requests = [];
  await change({}, 'sk-second');
  await expect.poll(async () => (await provider()) && keys().at(-1), patience).toBe('Bearer sk-second');

  await change({ aiProvider: AiProvider.BUILTIN });
  await expect.poll(provider, patience).toBe('builtin');
  model.requests = [];
  expect(await provider()).toBe('builtin');
  expect(model.requests).toEqual([]);
});

// guarantee: I31
test('without the settings service the model is asked further; a process that has no key yet uses builtin until it has', async () => {
  await change({ aiProvider: AiProvider.OPENAI });
  await expect.poll(provider, patience).toBe('openai');
  settings.isAvailable = false;
  expect(await provider()).toBe('openai');

  const other = await intents.startInstance({ TICKETING_INTENTS_ROLES: 'api' });
  const first = client;
  client = await intents.openClient(AnalysisService, { grpcPort: other.ports.grpc ?? 0 });
  try {
    model.requests = [];
    expect(await provider()).toBe('builtin');
    expect(model.requests).toEqual([]);
    settings.isAvailable = true;
    await expect.poll(provider, patience).toBe('openai');
  } finally {
    client = first;
    await other.stop();
  }
});
