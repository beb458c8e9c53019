import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reply, type SmtpReceiver, startSmtpReceiver } from '@ticketing/testkit/smtp-receiver.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operateAll } from '../../tools/dev/load-services.ts';
import { type System, startSystem } from './harness.ts';
import { storedTexts } from './stored-texts.ts';

let system: System;
let mailServer: SmtpReceiver;
let erp: Server;
let headers: Record<string, string>;
const secret = 'geheimnis4711';
const deferred = `later-${secret}@example.com`;

beforeAll(async () => {
  mailServer = await startSmtpReceiver({
    onRcptTo: ({ address }, _, done) => done(address === deferred ? reply(451, 'later') : undefined),
  });
  erp = createServer((request, response) => {
    const customer = { id: 'K-1', email: `${secret}@example.com`, lastname: secret, additionalData: { secret } };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(request.url?.endsWith('/match') ? { customers: [customer] } : customer));
  });
  await once(erp.listen(0, '127.0.0.1'), 'listening');
  system = await startSystem({
    analyses: true,
    serviceVariables: { tickets: { MAIL_FOLDER: '', SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` } },
  });
  const token = await system.identity.issuerToken({ roleId: 1, kind: 'user' });
  headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
});
afterAll(async () => {
  await system?.stop();
  await mailServer.close();
  erp.closeAllConnections();
  erp.close();
});

async function call(method: string, path: string, body?: object, more: Record<string, string> = {}) {
  const response = await system.fetch(system.url + path, {
    method,
    headers: { ...headers, ...more },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  const json: any = await response.json();
  expect(response.ok, `${method} ${path}: ${JSON.stringify(json)}`).toBe(true);
  return { headers: response.headers, json };
}

const attachments = [{ name: `${secret}.txt`, base64: Buffer.from(`A file about ${secret}.`).toString('base64') }];
const content = (text: string) => ({ message: `${text}: ${secret}`, type: 'text' });
const drain = () => operateAll({ name: 'drain' }, () => undefined, system.environment);

/** Takes in a mail by RPC, which becomes a ticket with a file. Returns the id of the ticket. */
async function receiveMail(): Promise<number> {
  const mail = [
    `From: ${secret} <${secret}@example.com>`,
    'To: support@example.org',
    `Subject: ${secret}`,
    `Message-ID: <${secret}@example.com>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=part',
    ...['', '--part', 'Content-Type: text/plain', '', `Hello, ${secret}.`],
    ...['--part', `Content-Disposition: attachment; filename=${secret}.csv`, '', `file;${secret}`, '--part--'],
  ];
  const url = `http://127.0.0.1:${system.findPorts('tickets').http}/ticketing.tickets.v1.MailService/ReceiveMail`;
  const body = JSON.stringify({ mail: Buffer.from(mail.join('\r\n')).toString('base64') });
  const response = await fetch(url, { method: 'POST', headers, body });
  const received = (await response.json()) as { ticketId: number; outcome: string };
  expect(received.outcome).toBe('RECEIVED_MAIL_OUTCOME_TICKET_CREATED');
  return received.ticketId;
}

/** Gives a ticket messages of each kind. */
async function addMessages(id: number): Promise<void> {
  const path = `/ticket/${id}/conversation`;
  const key = { 'idempotency-key': secret };
  const sent = await call('POST', `${path}/reply`, { content: content('sent'), attachments }, key);
  await expect.poll(async () => (await call('GET', `${path}/${sent.json.id}`)).json.deliveryStatus).toBe('sent');
  const queued = await call('POST', `${path}/reply`, { content: content('queued'), to: [deferred] });
  await call('POST', `${path}/reply`, { content: content('draft'), isDraft: true, attachments });
  await call('POST', `${path}/reply`, { content: content('note'), private: true });
  const stored = {
    content: content('stored'),
    direction: 'in',
    externalConversationId: `stored-${secret}`,
    attachments,
  };
  await call('POST', `${path}/store`, stored);
  expect((await call('GET', path)).json.total).toBe(6);
  expect((await call('GET', `${path}/${queued.json.id}`)).json.deliveryStatus).toBe('queued');
}

// spec: 25.3
// guarantee: E7
test('E7: no text of the messages, files, mails and customer of a deleted ticket is left in any store', async () => {
  const settings = { erpBaseUrl: `http://127.0.0.1:${(erp.address() as AddressInfo).port}/`, erpAdapter: 'http' };
  for (const [name, value] of Object.entries({ ...settings, mailFrom: 'support@example.org' })) {
    await call('PUT', `/settings/${name}`, { value });
  }
  await drain();
  const id = await receiveMail();
  await call('PATCH', '/ticket', [{ id, customerId: 'K-1' }]);
  // The customer is read when the settings have arrived.
  await expect.poll(async () => (await call('GET', `/ticket/${id}?refresh=true`)).json.customer?.lastname).toBe(secret);
  await addMessages(id);
  await call('POST', `/ticket/${id}/conversation/reply`, { content: content('to a colleague'), private: true });
  expect((await call('GET', `/ticket/${id}/history`)).json.history).toMatchObject([{ id, subject: secret }]);
  await drain();
  const later = await call('GET', '/export/reporting_tickets?all=true&format=csv', undefined, {
    prefer: 'respond-async',
  });
  const location = later.headers.get('location') ?? '';
  await expect.poll(async () => (await call('GET', location)).json.status).toBe('finished');

  const holding = [...(await storedTexts(system))].filter(([, text]) => text.toLowerCase().includes(secret));
  const names = holding.map(([name]) => name);
  expect(names).toEqual(expect.arrayContaining(['tickets', 'conversations', 'externalMessageIds', 'files.chunks']));
  expect(names).toEqual(expect.arrayContaining(['erpResponses', 'idempotencyKeys', 'exportFiles.chunks']));

  await call('DELETE', `/ticket/${id}`);
  await drain();
  const left = [...(await storedTexts(system))].filter(([, text]) => text.toLowerCase().includes(secret));
  expect(left.map(([name]) => name)).toEqual([]);
});
