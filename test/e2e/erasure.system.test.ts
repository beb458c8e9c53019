import { randomUUID } from 'node:crypto';
import { service as reporting } from '@ticketing/reporting/service.ts';
import mongoose from 'mongoose';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { operateAll } from '../../tools/dev/load-services.ts';
import { type System, startSystem } from './harness.ts';
import { storedTexts } from './stored-texts.ts';

let system: System;
let headers: Record<string, string>;
const secret = 'Geheimnis4711';
/** An id of another system, which identifies a person. */
const person = 'Person-0815';
const path = '/export/reporting_tickets';

beforeAll(async () => {
  system = await startSystem({ analyses: true });
  const token = await system.identity.issuerToken({ roleId: 1, kind: 'serviceWorker' });
  headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
});
afterAll(() => system.stop());

async function call(method: string, url: string, body?: object, more: Record<string, string> = {}) {
  const response = await system.fetch(system.url + url, {
    method,
    headers: { ...headers, ...more },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  const json: any = await response.json();
  return { status: response.status, headers: response.headers, json };
}

const rows = async () =>
  (await call('GET', `${path}?format=json&limit=1000`)).json as { id: number; topic: string | null }[];
const silent = () => undefined;
const drain = async () => {
  await operateAll({ name: 'drain' }, silent, system.environment);
};

const everything = async () => [...(await storedTexts(system)).values()].join('\n');
/** Everything but the messages of the bus, which nobody can change: they are removed after 7 days. */
const everythingButTheBus = async () => {
  const texts = await storedTexts(system);
  texts.delete('logChunks');
  return [...texts.values()].join('\n');
};

test('a change of a ticket or of its tag shows in the rows and in the export soon', async () => {
  const tag = await call('POST', '/tag', { name: '=HYPERLINK("http://x","y")' });
  const { json } = await call('POST', '/ticket', { channel: 'phone', subject: 'sichtbar', tags: [tag.json.id] });
  await expect
    .poll(async () => (await rows()).find(({ id }) => id === json.id)?.topic)
    .toBe('=HYPERLINK("http://x","y")');
  await call('PATCH', `/tag/${tag.json.id}`, { name: 'umbenannt' });
  await expect.poll(async () => (await rows()).find(({ id }) => id === json.id)?.topic).toBe('umbenannt');
  const csv = await system.fetch(`${system.url}${path}?format=csv&limit=1`, { headers });
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(await csv.text()).toContain('umbenannt');
});

test('a request for the export by cookie is served only if it comes from the same origin', async () => {
  const cookie = `__Host-ticketing_session=${headers.authorization?.slice('Bearer '.length)}`;
  const from = async (site: string) =>
    (await system.fetch(`${system.url}${path}?format=json`, { headers: { cookie, 'sec-fetch-site': site } })).status;
  expect([await from('same-origin'), await from('cross-site'), await from('same-site')]).toEqual([200, 403, 403]);
});

// spec: 25.3, 25.9
// guarantee: E7
// asvs: 14.2.2, 14.2.4
test('E7: no store holds any text of a deleted ticket, also after a rebuild and a replay of all events', async () => {
  const kept = await call('POST', '/ticket', { channel: 'phone', subject: 'bleibt' });
  const { json } = await call(
    'POST',
    '/ticket',
    {
      channel: 'email',
      from: `${secret}@example.com`,
      subject: secret,
      body: `<b>${secret}</b>`,
      rawData: { [secret]: secret },
      externalTicketId: person,
    },
    { 'idempotency-key': 'erasure' },
  );
  expect((await call('PATCH', '/ticket', [{ id: json.id, customerId: person }])).status).toBe(200);
  await recordSession(json.id);
  const shown = async () => (await call('GET', `/ticket/${json.id}`)).json.sessions;
  await expect.poll(shown).toMatchObject([{ participants: [{ id: 7, name: secret }] }]);
  await drain();
  const later = await call('GET', `${path}?all=true&format=csv`, undefined, { prefer: 'respond-async' });
  const location = later.headers.get('location') ?? '';
  await expect.poll(async () => (await call('GET', location)).json.status).toBe('finished');
  expect(await everything()).toContain(secret);
  expect((await storedTexts(system)).get('events')).toContain(person);

  expect((await call('DELETE', `/ticket/${json.id}`)).status).toBe(200);
  expect((await call('GET', `/ticket/${json.id}`)).status).toBe(404);
  await drain();
  expect(await everything()).not.toContain(secret);
  expect(await everythingButTheBus()).not.toContain(person);
  expect((await call('GET', `${location}/file`)).json.code).toBe('export_withdrawn');

  await reporting.operate({ name: 'rebuild' }, silent, system.environment);
  expect(await everything()).not.toContain(secret);
  expect(await everythingButTheBus()).not.toContain(person);

  // Without consumer offsets, every event is delivered again.
  if (inject('kafkaBrokers').length === 0) await removeConsumerOffsets();
  await drain();
  expect(await everything()).not.toContain(secret);
  expect(await everythingButTheBus()).not.toContain(person);
  const ids = (await rows()).map(({ id }) => id);
  expect(ids).toContain(kept.json.id);
  expect(ids).not.toContain(json.id);
  expect(await reporting.operate({ name: 'reconcile' }, silent, system.environment)).toBe(0);
});

/** Records a session as the assistant does: by RPC, with a token of the issuer. */
async function recordSession(ticketId: number): Promise<void> {
  const url = `http://127.0.0.1:${system.findPorts('intents').http}/ticketing.intents.v1.SessionService/RecordSession`;
  const time = '2026-01-02T03:04:05Z';
  const participants = [{ id: 7, name: secret }];
  const session = { id: randomUUID(), ticketId, createdAt: time, lastActivityAt: time, participants, model: secret };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(session) });
  expect(response.status, await response.text()).toBe(200);
}

async function removeConsumerOffsets(): Promise<void> {
  const client = await mongoose.createConnection(inject('mongodbUri')).asPromise();
  const database = client.getClient().db(system.environment.TICKETING_REPORTING_EVENT_LOG_MONGODB_DATABASE);
  // A reader that cannot commit, because its document is gone, stops; the partition is then read from the start.
  await database.collection('logConsumerOffsets').deleteMany({});
  await client.close();
  await expect.poll(() => operateAll({ name: 'dead-letters' }, silent, system.environment)).toBe(0);
}
