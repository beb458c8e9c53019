import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type System, startSystem } from './harness.ts';
import { sentMails } from './sent-mails.ts';
import { changesBetween, storedDocuments, storedWhenQuiet } from './stored-documents.ts';

let system: System;
let backend: Server;
let url: string;
let token: string;
const bodies: unknown[] = [];
/** The e-mail template around mails. */
const wrapper = '<p>Dear {{default ticket.fromName "customer"}},</p>%MESSAGE%<p>Your desk</p>';

beforeAll(async () => {
  backend = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8'));
    bodies.push(body);
    if (body.data.reading === 0) response.writeHead(400);
    response.end('{"ok":true,"text":"Your reading of 5 kWh was stored."}');
  });
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}/readings`;
  system = await startSystem();
  token = await system.identity.issuerToken({ roleId: 1 });
  const { id: value } = (await call('POST', '/emailTemplate', { name: 'Usual', template: wrapper })).json;
  const settings = [
    { name: 'mailFrom', value: 'desk@example.org' },
    { name: 'genericTemplateId', value },
  ];
  expect((await call('POST', '/settings', { settings })).status).toBe(200);
  // The settings are known to the other services a moment later.
  const probe = await ticket();
  const isKnown = async () => expect((await call('GET', `/ticket/${probe}`)).json.template).toBe(wrapper);
  await vi.waitFor(isKnown, { timeout: 30_000 });
});
afterAll(async () => {
  await system.stop();
  await new Promise((resolve) => backend.close(resolve));
});

async function call(method: string, path: string, body?: object) {
  const response = await system.fetch(system.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, json: JSON.parse(await response.text()) };
}

async function ticket(): Promise<number> {
  const body = { channel: 'email', from: 'kim@example.org', subject: 'Reading', body: '5 kWh' };
  return (await call('POST', '/ticket', body)).json.id;
}

// spec: 2.6, 17.8
test('an intent is executed at a backend system, its customer is informed, and its ticket is closed', async () => {
  const responseMapping = { success: '/ok', message: '/text' };
  const options = [{ type: 'enter', name: 'Enter', recommended: true, order: 1 }];
  const agent = { name: 'Meter reading', options, executor: { type: 'http', url, responseMapping } };
  expect((await call('POST', '/aiAgent', agent)).status).toBe(201);
  const ticketId = await ticket();
  const request = { code: 'meter-reading', ticketId, informCustomer: true, data: { reading: 5 } };
  const planned = await call('POST', '/intent/0/execute', { ...request, dryRun: true });
  expect(planned.json).toMatchObject({ responseCode: 'dry_run', success: true, recipient: 'kim@example.org' });
  expect(bodies).toEqual([]);
  const { status, json } = await call('POST', '/intent/0/execute', request);
  const message = 'Your reading of 5 kWh was stored.';
  expect([status, json]).toMatchObject([200, { success: true, sent: true, ticketClosed: true, message }]);
  const after = (await call('GET', `/ticket/${ticketId}`)).json;
  expect(after).toMatchObject({ status: 'closed', intents: [{ status: 'executed', verified: true }] });
  expect(after.intents[0].outcome).toEqual({ ...json, deliveryStatus: expect.stringMatching(/^(queued|sent)$/) });
  const { conversations } = (await call('GET', `/ticket/${ticketId}/conversation`)).json;
  const body = `<p>Dear customer,</p><p>${message}</p><p>Your desk</p>`;
  expect(conversations.at(-1)).toMatchObject({ direction: 'out', body, type: 'html', to: ['kim@example.org'] });
  await expect.poll(() => sentMails(system)).toEqual([expect.stringContaining(body)]);
  const repeated = () => call('POST', `/intent/${after.intents[0].id}/execute`, {});
  await expect.poll(async () => (await repeated()).json).toEqual({ ...json, deliveryStatus: 'sent' });
  expect(bodies).toMatchObject([{ intent: { id: after.intents[0].id }, ticket: { id: ticketId }, option: 'enter' }]);
});

test('the executors that change a ticket or reply to it do so, as the dry run has said', async () => {
  const template = (await call('POST', '/template', { message: '<p>Reading {{in.reading}}</p>', description: 'x' }))
    .json;
  const executors = [
    { type: 'updateTicket', fields: { priority: 'urgent' } },
    { type: 'reply', templateId: template.id },
    { type: 'closeTicket' },
  ];
  for (const executor of executors) {
    const { slug: code } = (await call('POST', '/aiAgent', { name: `An ${executor.type}`, executor })).json;
    const ticketId = await ticket();
    const before = (await call('GET', `/ticket/${ticketId}`)).json;
    const body = { code, ticketId, data: { reading: 5 } };
    const planned = (await call('POST', '/intent/0/execute', { ...body, dryRun: true })).json;
    expect((await call('GET', `/ticket/${ticketId}`)).json).toEqual(before);
    const done = (await call('POST', '/intent/0/execute', body)).json;
    const { sent, ticketClosed, recipient, template: name } = planned;
    expect(done).toMatchObject({ success: true, sent, ticketClosed, recipient, template: name });
    const after = (await call('GET', `/ticket/${ticketId}`)).json;
    expect(after.priority).toBe(executor.type === 'updateTicket' ? 'urgent' : before.priority);
    expect(after.status).toBe(executor.type === 'closeTicket' ? 'closed' : 'open');
    expect(after.intents).toMatchObject([{ code, status: 'executed', outcome: { txId: done.txId } }]);
    if (executor.type === 'reply') expect(planned.message).toContain('Reading 5');
  }
});

// spec: 29.7
// guarantee: I22
test('a dry run writes nothing: no document of any service changes, no backend system is called, and no mail leaves', async () => {
  const template = (await call('POST', '/template', { message: '<p>Hello</p>', description: 'x' })).json;
  const options = [{ type: 'enter', name: 'Enter', recommended: true, order: 1 }];
  const parameters = { type: 'object', properties: { reading: { type: 'number' } } };
  const executors = [
    { type: 'http', url, headers: { 'x-key': 'secret' } },
    { type: 'reply', templateId: template.id },
    { type: 'closeTicket' },
    { type: 'updateTicket', fields: { priority: 'urgent', agentId: 7 } },
    { type: 'none' },
  ];
  const requests: object[] = [];
  const ticketIds: number[] = [];
  for (const executor of executors) {
    const agent = { name: `Dry ${executor.type}`, executor, options, parameters };
    const { status, json } = await call('POST', '/aiAgent', agent);
    expect(status, JSON.stringify(json)).toBe(201);
    const ticketId = await ticket();
    ticketIds.push(ticketId);
    const created = { code: json.slug, ticketId, data: { reading: 5 } };
    requests.push(created, { ...created, informCustomer: true });
  }
  // The failed execution leaves an intent that is still ready.
  const failed = (await call('POST', '/intent/0/execute', { ...requests[0], data: { reading: 0 } })).json;
  expect(failed).toMatchObject({ success: false });
  const { intents } = (await call('GET', `/ticket/${ticketIds[0]}`)).json;
  expect(intents).toMatchObject([{ status: 'ready' }]);
  const [before, mails, calls] = [await storedWhenQuiet(system), sentMails(system), bodies.length];
  expect(before.size).toBeGreaterThan(50);
  for (const request of [...requests, { intentId: intents[0].id, data: { reading: 5 } }]) {
    const path = `/intent/${'intentId' in request ? request.intentId : 0}/execute`;
    const { status, json } = await call('POST', path, { ...request, dryRun: true });
    expect([status, json.success, json.responseCode], JSON.stringify(request)).toEqual([200, true, 'dry_run']);
    const refused = await call('POST', path, { ...request, data: { reading: 'x' }, dryRun: true });
    expect([refused.status, refused.json.code]).toEqual([400, 'invalid_data']);
  }
  const after = await storedWhenQuiet(system);
  expect([sentMails(system), bodies.length]).toEqual([mails, calls]);
  expect(changesBetween(before, after)).toEqual([]);

  // The comparison detects the writes of a real execution.
  await call('POST', '/intent/0/execute', requests[0]);
  const changed = changesBetween(after, await storedDocuments(system)).map((path) => path.replace(/\/.*/, ''));
  expect(changed).toEqual(expect.arrayContaining(['intents.intents', 'tickets.tickets']));
});
