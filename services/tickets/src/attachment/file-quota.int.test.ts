import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';
import { defaultSettings } from '../settings.ts';

const kib = 1024;
const bytes = Buffer.alloc(400 * kib);
const server = createServer((_, response) => response.end(bytes));
let tickets: TicketsHarness;
let fetched: object;
let lastId = 1000;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  fetched = { name: 'a', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
  const settings = async () => ({ ...defaultSettings, fileMibPerDay: 1, rawMailDays: 0 });
  tickets = await startHarness({ settings, variables: { OUTBOUND_ALLOW: '127.0.0.1' } });
});
afterAll(async () => {
  server.close();
  await tickets.stop();
});

const given = { name: 'a', base64: bytes.toString('base64') };
const person = (kind: Caller['kind'] = 'user') => ({ kind, profileId: ++lastId });
const post = (caller: Partial<Caller>, attachments: object[], url = tickets.url) =>
  tickets.request('POST', '/ticket', { url, caller, body: { channel: 'chat', attachments } });
const storedFiles = () => tickets.database.collection('fileRecords').countDocuments();

async function expectRefused(response: ReturnType<typeof post>) {
  const { status, json, headers } = await response;
  expect([status, json.code]).toEqual([429, 'storage_quota']);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(23 * 3600);
}

test.each(['user', 'vendor', 'vendorPartner'] as const)(
  'a %s stores no more files than the setting allows',
  async (kind) => {
    const caller = person(kind);
    expect((await post(caller, [given])).status).toBe(200);
    expect((await post(caller, [fetched])).status).toBe(200);
    const before = await storedFiles();
    const ticketsBefore = await tickets.database.collection('tickets').countDocuments();
    await expectRefused(post(caller, [given]));
    await expectRefused(post(caller, [fetched]));
    expect(await storedFiles()).toBe(before);
    expect(await tickets.database.collection('tickets').countDocuments()).toBe(ticketsBefore);
    expect((await post(caller, [])).status).toBe(200);
    expect((await post(person(), [given])).status).toBe(200);
  },
);

test('messages and drafts count, and files that a draft keeps do not count again', async () => {
  const caller = person();
  const { id } = (await post(caller, [given])).json;
  const send = (method: string, path: string, body: object) =>
    tickets.request(method, `/ticket/${id}/conversation${path}`, { caller, body });
  const content = { type: 'text', message: 'a' };
  const draft = await send('POST', '/reply', { content, isDraft: true, attachments: [given] });
  expect(draft.status, draft.text).toBeLessThan(300);
  const path = `/${draft.json.id ?? draft.json.conversation.id}`;
  const [kept] = (await tickets.request('GET', `/ticket/${id}/conversation${path}`, { caller })).json.attachments;
  expect((await send('PATCH', path, { attachments: [{ id: kept.id }] })).status).toBe(200);
  expect((await send('PATCH', path, { attachments: [{ id: kept.id }, given] })).json.code).toBe('storage_quota');
  expect((await send('POST', '/reply', { content, attachments: [given] })).json.code).toBe('storage_quota');
});

// guarantee: F3
test('all replicas count together, and a new process knows what was counted', async () => {
  const caller = person();
  const other = await tickets.startInstance();
  const url = `http://127.0.0.1:${other.ports.http}`;
  expect((await post(caller, [given])).status).toBe(200);
  expect((await post(caller, [given], url)).status).toBe(200);
  await expectRefused(post(caller, [given], url));
  await expectRefused(post(caller, [given]));
  await other.stop();
  const restarted = await tickets.startInstance();
  await expectRefused(post(caller, [given], `http://127.0.0.1:${restarted.ports.http}`));
  await restarted.stop();
});

test('a repeated request with an Idempotency-Key counts once, and files that are not valid do not count', async () => {
  const caller = person();
  const send = () =>
    tickets.request('POST', '/ticket', {
      ...{ caller, headers: { 'idempotency-key': 'once' } },
      body: { channel: 'chat', attachments: [given] },
    });
  for (let attempt = 0; attempt < 4; attempt++) expect((await send()).status).toBe(200);
  const broken = { name: 'b', base64: `${given.base64.slice(4)}?===` };
  expect((await post(caller, [given, broken])).json.code).not.toBe('');
  expect((await post(caller, [given])).status).toBe(200);
  await expectRefused(post(caller, [given]));
});

test('a service worker has no limit, a mail that a mailbox receives does not count, and one that a person imports does', async () => {
  const worker = person('serviceWorker');
  for (let sent = 0; sent < 4; sent++) expect((await post(worker, [given])).status).toBe(200);
  const mail = (id: string) =>
    Buffer.from(
      `Message-ID: <${id}@example.org>\r\nFrom: a@example.org\r\nSubject: a\r\nMIME-Version: 1.0\r\nContent-Type: application/octet-stream; name=a\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\n${given.base64.replaceAll(/.{76}/g, '$&\r\n')}\r\n`,
    ).toString('base64');
  const caller = person();
  const statuses = [];
  for (let sent = 0; sent < 3; sent++) {
    statuses.push((await tickets.rpc('MailService/ReceiveMail', { mail: mail(`q${sent}`) }, caller))[0]);
  }
  expect(statuses).toEqual([200, 200, 429]);
});
