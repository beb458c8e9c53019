import { afterAll, beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from './harness.ts';
import { sentMails } from './sent-mails.ts';

let system: System;
let headers: Record<string, string>;

beforeAll(async () => {
  system = await startSystem();
  const token = await system.identity.issuerToken({ roleId: 1, kind: 'user', firstName: 'Ada' });
  headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
});
afterAll(() => system?.stop());

async function send(method: string, path: string, body?: object) {
  const response = await system.fetch(system.url + path, {
    ...{ method, headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  return { status: response.status, json: (await response.json()) as any, headers: response.headers };
}

async function call(method: string, path: string, body?: object) {
  const { status, json } = await send(method, path, body);
  expect(status, `${method} ${path}: ${JSON.stringify(json)}`).toBeLessThan(300);
  return json;
}

/** The mail that has left with a text in it; undefined until then. */
const sentMail = (text: string) => sentMails(system).find((mail) => mail.includes(text));

const wrapper = '<p>Dear {{ticket.fromName}}customer,</p>%MESSAGE%<p>Regards, {{agent.firstName}}</p>';

// guarantee: F14
test('a message with a template leaves with greeting, text, signature and files; what is deleted is gone; without the service nothing else stops', async () => {
  const mailbox = { channel: 'email', name: 'Desk', interface: 'smtp', data: { address: 'desk@example.org' } };
  const { id: subchannelId } = await call('POST', '/settings/subchannel', mailbox);
  const emailTemplate = await call('POST', '/emailTemplate', { name: 'Usual', template: wrapper });
  await call('PUT', '/settings/genericTemplateId', { value: emailTemplate.id });
  const file = Buffer.from('How to read a meter').toString('base64');
  const template = await call('POST', '/template', {
    ...{ message: '<p>Meter {{in.meter}} is due.</p>', subject: 'Meter {{in.meter}}' },
    attachments: [{ name: 'reading.txt', base64: file }],
  });
  await expect
    .poll(() => call('GET', `/template/${template.id}`))
    .toMatchObject({ template: wrapper, attachments: [{ name: 'reading.txt' }] });

  const outgoing = { channel: 'email', direction: 'out', to: ['kim@example.com'], subchannelId };
  const written = { ...outgoing, templateId: template.id, templateData: { meter: '4711' } };
  let created = await send('POST', '/ticket', written);
  await expect
    .poll(async () => {
      // The mailbox is known to the tickets service a moment later.
      if (created.status !== 200) created = await send('POST', '/ticket', written);
      return created.status;
    })
    .toBe(200);
  const text = '<p>Dear customer,</p><p>Meter 4711 is due.</p><p>Regards, Ada</p>';
  expect(created.json).toMatchObject({ subject: 'Meter 4711', body: text, attachments: [{ name: 'reading.txt' }] });
  await expect.poll(() => sentMail(text)).toBeDefined();
  const mail = sentMail(text);
  expect(mail).toMatch(/^Subject: Meter 4711 \[/m);
  expect(mail).toContain('filename=reading.txt');
  expect(mail).toContain(file.replace(/=+$/, ''));
  await expect.poll(() => call('GET', `/ticket/${created.json.id}`)).toMatchObject({ template: wrapper });

  const reply = `/ticket/${created.json.id}/conversation/reply`;
  const { conversation } = await call('POST', reply, { templateId: template.id, templateData: { meter: '4712' } });
  expect(conversation).toMatchObject({ subject: 'Re: Meter 4711', attachments: [{ name: 'reading.txt' }] });
  await expect.poll(() => sentMail('<p>Meter 4712 is due.</p><p>Regards, Ada</p>')).toBeDefined();

  await call('DELETE', `/emailTemplate/${emailTemplate.id}`);
  expect((await call('GET', `/ticket/${created.json.id}`)).template).toBeNull();
  const { settings } = await call('GET', '/settings?category=email');
  expect(settings.find(({ name }: { name: string }) => name === 'genericTemplateId')?.value ?? null).toBeNull();
  const plain = await call('POST', reply, { templateId: template.id });
  expect(plain.conversation.body).toBe('<p>Meter  is due.</p>');
  await call('DELETE', `/template/${template.id}`);
  expect(await send('POST', reply, { templateId: template.id })).toMatchObject({
    ...{ status: 400, json: { code: 'unknown_template', errors: [{ pointer: '#/templateId' }] } },
  });

  const again = await call('POST', '/template', { message: '<p>Hello</p>' });
  const total = async () => (await call('POST', '/ticket/search', { limit: 1 })).total;
  const before = await total();
  await system.stopService('templates');
  const refused = await send('POST', '/ticket', { ...written, templateId: again.id, externalTicketId: 'none' });
  expect([refused.status, refused.json.code]).toEqual([503, 'templates_unavailable']);
  expect(refused.headers.get('retry-after')).toBe('2');
  expect((await send('POST', reply, { templateId: again.id })).json.code).toBe('templates_unavailable');
  expect((await send('GET', `/template/${again.id}`)).status).toBe(503);
  expect((await send('PUT', '/settings/genericTemplateId', { value: 1 })).status).toBe(503);
  expect(await total()).toBe(before);
  await call('GET', `/ticket/${created.json.id}`);
  await call('POST', reply, { content: { message: 'Hello', type: 'text' } });
  expect((await call('POST', '/ticket', { ...outgoing, body: 'Hello', externalTicketId: 'none' })).version).toBe(1);
});
