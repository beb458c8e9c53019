import { randomBytes } from 'node:crypto';
import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { service } from '../src/service.ts';
import { type SettingsHarness, startHarness } from './harness.ts';

let settings: SettingsHarness;

beforeAll(async () => {
  settings = await startHarness();
});
afterAll(() => settings.stop());

const variable = (name: string) => `TICKETING_SETTINGS_${name}`;
const document = () => settings.database.collection('configuration').findOne();

// asvs: 11.2.2
test('the key is replaced while requests are served: every secret is encrypted again, and none is lost', async () => {
  await settings.write('PUT', '/settings/aiApiKey', { value: 'first-secret' });
  const { json } = await settings.write('POST', '/settings/subchannel', {
    channel: 'email',
    name: 'A',
    data: { password: 'second-secret' },
  });
  const caller = { permissions: ['manageWebhooks'] };
  await settings.request('POST', '/webhook', { caller, body: { url: 'http://127.0.0.1:9/hook' } });
  const webhookKeys = async () => (await settings.database.collection('webhooks').findOne())?.secrets[0].sealed.keyId;
  const before = await document();
  const old = settings.environment[variable('ENCRYPTION_KEY')] ?? '';
  const rotated = await settings.startInstance({
    [variable('ENCRYPTION_KEY')]: randomBytes(32).toString('base64'),
    [variable('PREVIOUS_ENCRYPTION_KEY')]: old,
    [variable('ROLES')]: 'api,scheduler',
  });
  const url = `http://127.0.0.1:${rotated.ports.http}`;
  const writes = Array.from({ length: 20 }, (_, index) =>
    settings.write('PUT', '/settings/aiModel', { value: `model ${index}` }, { url }),
  );
  expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(Array(20).fill(200));
  await vi.waitFor(
    async () => {
      const now = await document();
      expect(now?.secrets.aiApiKey.keyId).not.toBe(before?.secrets.aiApiKey.keyId);
      expect(JSON.parse(now?.subchannels[0].secrets)['/password'].keyId).not.toBe(before?.secrets.aiApiKey.keyId);
      expect(await webhookKeys()).not.toBe(before?.secrets.aiApiKey.keyId);
    },
    { timeout: 30_000 },
  );
  const kept = await settings.write('PATCH', `/settings/subchannel/${json.id}`, { data: { password: null } }, { url });
  expect(kept.status).toBe(200);
  const client = await settings.openClient(ConfigurationService, { service: 'intents', grpcPort: rotated.ports.grpc });
  expect((await client.getSecrets({ names: ['aiApiKey'] })).secrets).toEqual({ aiApiKey: 'first-secret' });
  await rotated.stop();
});

test('encrypt-secrets encrypts all secrets with the current key at once, and says when the previous one can go', async () => {
  // The test before has encrypted them with a key that only it knows.
  for (const name of ['configuration', 'webhooks']) await settings.database.collection(name).deleteMany({});
  await settings.write('PUT', '/settings/aiApiKey', { value: 'third-secret' });
  const caller = { permissions: ['manageWebhooks'] };
  await settings.request('POST', '/webhook', { caller, body: { url: 'http://127.0.0.1:9/hook' } });
  const webhookCount = await settings.database.collection('webhooks').countDocuments();
  const key = randomBytes(32).toString('base64');
  const encrypt = async (variables: Record<string, string>) => {
    const lines: string[] = [];
    const environment = { ...settings.environment, ...variables };
    const left = await service.operate({ name: 'encrypt-secrets' }, (line) => lines.push(line), environment);
    return { left, lines };
  };
  const onlyNew = { [variable('ENCRYPTION_KEY')]: key };
  await expect(encrypt(onlyNew)).rejects.toThrow('which is not configured');
  const first = settings.environment[variable('ENCRYPTION_KEY')] ?? '';
  expect(await encrypt({ ...onlyNew, [variable('PREVIOUS_ENCRYPTION_KEY')]: first })).toEqual({
    left: 0,
    lines: [
      `settings: ${1 + webhookCount} documents were encrypted again; all secrets are encrypted with the current key`,
    ],
  });
  expect((await encrypt(onlyNew)).lines).toEqual([
    'settings: 0 documents were encrypted again; all secrets are encrypted with the current key',
  ]);
});

// asvs: 11.3.1-11.3.2, 11.3.3
test('a secret that is moved to another place in the store cannot be read', async () => {
  await settings.database.collection('configuration').deleteMany({});
  await settings.write('PUT', '/settings/aiApiKey', { value: 'moved' });
  const stored = await document();
  await settings.database
    .collection('configuration')
    .updateOne({}, { $set: { 'secrets.erpToken': stored?.secrets.aiApiKey } });
  const tickets = await settings.openClient(ConfigurationService, { service: 'tickets' });
  await expect(tickets.getSecrets({ names: ['erpToken'] })).rejects.toMatchObject({ rawMessage: 'Internal error' });
  const intents = await settings.openClient(ConfigurationService, { service: 'intents' });
  expect((await intents.getSecrets({ names: ['aiApiKey'] })).secrets).toEqual({ aiApiKey: 'moved' });
});
