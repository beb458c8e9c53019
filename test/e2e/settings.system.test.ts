import mongoose from 'mongoose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from './harness.ts';

let system: System;
let token: string;

beforeAll(async () => {
  system = await startSystem();
  token = await system.identity.issuerToken({ roleId: 1 });
});
afterAll(() => system.stop());

async function call(method: string, path: string, body?: object) {
  const response = await system.fetch(system.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return { status: response.status, json: JSON.parse(text) };
}

const put = (name: string, value: unknown) => call('PUT', `/settings/${name}`, { value });
const post = (body: object = {}) => call('POST', '/ticket', { channel: 'email', ...body });
/** The agent of a new ticket: with the setting `lastAgentRouting` the person who creates it. */
async function agentOfTicket(): Promise<unknown> {
  const { status, json } = await post();
  expect(status, JSON.stringify(json)).toBe(200);
  return json.agentId;
}

// spec: 21.26
test('a setting works in the services that use it, soon after it was changed', async () => {
  expect(await agentOfTicket()).toBeNull();
  expect((await put('lastAgentRouting', true)).status).toBe(200);
  await expect.poll(agentOfTicket).toBe(7);
  const exportType = async () => {
    const response = await fetch(`${system.url}/export/reporting_tickets`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await response.arrayBuffer();
    return [response.status, response.headers.get('content-type')];
  };
  expect(await exportType()).toEqual([200, expect.stringContaining('spreadsheet')]);
  expect((await put('defaultDateExportFormat', 'json')).status).toBe(200);
  await expect.poll(exportType).toEqual([200, expect.stringMatching(/^application\/json\b/)]);
  const tag = await call('POST', '/tag', { name: 'Spam' });
  expect((await put('spamDetectionTagId', tag.json.id)).status).toBe(200);
  expect((await put('spamDetectionTagId', 999_999)).json.code).toBe('unknown_tag');
});

test('a new subchannel can be named by tickets, and one that is disabled cannot', async () => {
  const { json } = await call('POST', '/settings/subchannel', { channel: 'email', name: 'Service', interface: 'imap' });
  const posted = async () => (await post({ subchannelId: json.id })).json;
  await expect.poll(posted).toMatchObject({ subchannelId: json.id, interface: 'imap' });
  await call('PATCH', `/settings/subchannel/${json.id}`, { enabled: false });
  await expect.poll(posted).toMatchObject({ code: 'subchannel_disabled' });
});

test('no secret is in clear in any database, nor in the log of events', async () => {
  const secret = 'a-secret-to-be-found';
  expect((await put('aiApiKey', secret)).status).toBe(200);
  const subchannel = { channel: 'phone', name: 'P', data: { password: secret } };
  expect((await call('POST', '/settings/subchannel', subchannel)).status).toBe(201);
  const connection = await mongoose.createConnection(system.mongodbUri).asPromise();
  const databases = (await connection.listDatabases()).databases.filter(({ name }) => name.startsWith(system.name));
  expect(databases.length).toBeGreaterThanOrEqual(3);
  for (const { name } of databases) {
    const database = connection.useDb(name);
    for (const { name: collection } of await database.listCollections()) {
      const documents = await database.collection(collection).find().toArray();
      // Binary values are written as base64, and read again as text.
      const text = JSON.stringify(documents, (_key, value) =>
        value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
      );
      const binaries = documents.flatMap((document) => Object.values(document)).flatMap(toBytes);
      expect(`${text}${binaries.join('')}`, `${name}.${collection}`).not.toContain(secret);
    }
  }
  await connection.close();
});

test('without the settings service the others go on with what they have', async () => {
  await system.stopService('settings');
  expect(await agentOfTicket()).toBe(7);
  expect((await call('GET', '/settings')).status).toBe(503);
});

/** The bytes of a binary value, as text. */
function toBytes(value: unknown): string[] {
  return value instanceof mongoose.mongo.Binary ? [Buffer.from(value.value()).toString('latin1')] : [];
}
