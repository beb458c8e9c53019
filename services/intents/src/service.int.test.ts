import { randomBytes } from 'node:crypto';
import { SessionService } from '@ticketing/contracts/ticketing/intents/v1/session_service_pb.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { secretBox } from '@ticketing/text/sealed-text.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type IntentsHarness, startHarness } from '../test/harness.ts';
import { headerBinding, signatureBinding } from './agent/rules/http-executor.ts';
import { service } from './service.ts';

let intents: IntentsHarness;

beforeAll(async () => {
  intents = await startHarness();
});
afterAll(() => intents.stop());

// guarantee: O9
test('the key is replaced while requests are served: every secret is encrypted again', async () => {
  const headers = { 'X-Key': 'hidden-1' };
  const executor = { type: 'http', url: 'https://backend.example.com/', secret: 'hidden-hidden-02', headers };
  const { id } = (await intents.manage('POST', '/aiAgent', { name: 'A', executor })).json;
  await intents.manage('POST', '/aiAgent', { name: 'B' });
  const key = randomBytes(32);
  const previous = intents.environment.TICKETING_INTENTS_ENCRYPTION_KEY ?? '';
  const scheduler = await intents.startInstance({
    TICKETING_INTENTS_ENCRYPTION_KEY: key.toString('base64'),
    TICKETING_INTENTS_PREVIOUS_ENCRYPTION_KEY: previous,
    TICKETING_INTENTS_ROLES: 'api,scheduler',
  });
  const box = secretBox([key], systemRuntime);
  const isEncryptedAgain = async () => {
    const stored = await intents.database.collection('aiAgents').findOne({ callsBackend: true });
    const { secret, headers: sealed } = JSON.parse(stored?.executor);
    expect(box.open(secret, signatureBinding(id))).toBe('hidden-hidden-02');
    expect(box.open(sealed['X-Key'], headerBinding(id, 'X-Key'))).toBe('hidden-1');
  };
  await vi.waitFor(isEncryptedAgain, { timeout: 30_000 });
  await scheduler.stop();
});

test('encrypt-secrets encrypts the secrets of all AI agents with the current key', async () => {
  await intents.database.collection('aiAgents').deleteMany({});
  const executor = { type: 'http', url: 'https://backend.example.com/', secret: 'hidden-hidden-03' };
  const { id } = (await intents.manage('POST', '/aiAgent', { name: 'D', executor })).json;
  const key = randomBytes(32);
  const environment = {
    ...intents.environment,
    TICKETING_INTENTS_PREVIOUS_ENCRYPTION_KEY: intents.environment.TICKETING_INTENTS_ENCRYPTION_KEY ?? '',
    TICKETING_INTENTS_ENCRYPTION_KEY: key.toString('base64'),
  };
  const lines: string[] = [];
  expect(await service.operate({ name: 'encrypt-secrets' }, (line) => lines.push(line), environment)).toBe(0);
  expect(lines).toEqual(['intents: 1 documents were encrypted again; all secrets are encrypted with the current key']);
  const { secret } = JSON.parse((await intents.database.collection('aiAgents').findOne())?.executor);
  expect(secretBox([key], systemRuntime).open(secret, signatureBinding(id))).toBe('hidden-hidden-03');
  await intents.database.collection('aiAgents').deleteMany({});
});

// guarantee: F16
test('what a process that died has stored of a deleted ticket, tag or template is removed', async () => {
  Object.assign(intents.model, { ticketIds: new Set([3, 4]), tagIds: new Set([1]), templateIds: new Set([2]) });
  const assistant = await intents.openClient(SessionService, { caller: { roleId: 1 } });
  for (const ticketId of [3, 4]) {
    const time = { seconds: 1n, nanos: 0 };
    const id = `00000000-0000-4000-8000-00000000000${ticketId}`;
    await assistant.recordSession({ id, ticketId, createdAt: time, lastActivityAt: time });
  }
  const executor = { type: 'reply', templateId: 2 };
  const { id } = (await intents.manage('POST', '/aiAgent', { name: 'C', executor, detection: { tagIds: [1] } })).json;
  const erasedAt = Date.now();
  for (const [collection, deleted] of Object.entries({
    erasedTickets: 3,
    deletedTags: 1,
    deletedTemplates: 2,
    deletedAiAgents: 5,
  })) {
    await intents.database.collection(collection).insertOne({ _id: deleted as never, erasedAt });
    await intents.database.collection(collection).insertOne({ _id: 99 as never, erasedAt: erasedAt - 49 * 3_600_000 });
  }
  const examples = intents.database.collection('examples');
  for (const id of [3, 4]) {
    await examples.insertOne({ _id: id as never, revision: 1, example: { tagIds: [1, 6], isSpam: null } });
  }
  const scheduler = await intents.startInstance({ TICKETING_INTENTS_ROLES: 'api,scheduler' });
  const isRemoved = async () => {
    expect((await intents.request('GET', '/sessions')).json.sessions).toMatchObject([{ ticketId: 4 }]);
    const agent = (await intents.manage('GET', `/aiAgent/${id}`)).json;
    expect([agent.detection.tagIds, agent.executor.templateId]).toEqual([[], null]);
    expect(await examples.find().toArray()).toMatchObject([{ _id: 4, example: { tagIds: [6] } }]);
    for (const collection of ['erasedTickets', 'deletedTags', 'deletedTemplates', 'deletedAiAgents']) {
      expect(await intents.database.collection(collection).countDocuments()).toBe(1);
    }
  };
  await vi.waitFor(isRemoved, { timeout: 30_000 });
  await scheduler.stop();
});
