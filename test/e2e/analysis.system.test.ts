import mongoose from 'mongoose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from './harness.ts';

let system: System;
let token: string;

beforeAll(async () => {
  system = await startSystem({ analyses: true });
  token = await system.identity.issuerToken({ roleId: 1 });
});
afterAll(() => system.stop());

async function send(method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) };
  return system.fetch(system.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
}

async function call(method: string, path: string, body?: object) {
  return JSON.parse(await (await send(method, path, body)).text());
}

const text = {
  channel: 'email',
  from: 'kim@example.com',
  subject: 'Mein Abschlag',
  body: 'Guten Tag, mein Abschlag ist viel zu hoch. Bitte senken Sie ihn. Ich bin sehr verärgert.',
};
const analysed = { language: 'German', languageCode: 'de', sentiment: 'negative', aiSupportLevel: 'bot' };

// spec: 17.12
test('a ticket is analysed when process says, its intent is proposed and executed, and refreshes change their part', async () => {
  const tag = await call('POST', '/tag', { name: 'Abschlag', detection: { keywords: ['abschlag'] } });
  const agent = await call('POST', '/aiAgent', {
    name: 'Close it',
    detection: { tagIds: [tag.id] },
    options: [{ type: 'close', name: 'Close', recommended: true, order: 1 }],
    executor: { type: 'closeTicket' },
  });
  const now = await call('POST', '/ticket?process=realtime', text);
  expect(now).toMatchObject({ ...analysed, tagIds: [tag.id], intents: [{ aiAgentId: agent.id, status: 'ready' }] });

  const soon = await call('POST', '/ticket', text);
  await expect.poll(() => call('GET', `/ticket/${soon.id}`)).toMatchObject(analysed);

  const later = await call('POST', '/ticket?process=false', text);
  const first = await call('GET', `/ticket/${later.id}`);
  expect(first).toMatchObject({ aiSupportLevel: 'unprocessed', language: null });
  await expect.poll(() => call('GET', `/ticket/${later.id}`)).toMatchObject(analysed);

  const { success } = await call('POST', `/intent/${now.intents[0].id}/execute`, {});
  expect(success).toBe(true);
  expect(await call('GET', `/ticket/${now.id}`)).toMatchObject({ status: 'closed', intents: [{ status: 'executed' }] });

  await call('PATCH', `/ticket/${soon.id}`, { tagIds: [] });
  const { version } = await call('GET', `/ticket/${soon.id}`);
  await call('PATCH', '/ticket', [{ id: soon.id, refreshMode: 'tags' }]);
  await expect.poll(() => call('GET', `/ticket/${soon.id}`)).toMatchObject({ tagIds: [tag.id], version: version + 1 });

  const manual = await call('POST', '/ticket?process=false', text);
  await call('PATCH', '/ticket', [{ id: manual.id, spamStatus: 'manual_spam' }]);
  await call('PATCH', `/ticket/${soon.id}`, { tagIds: [] });
  await call('PATCH', '/ticket', [
    { id: manual.id, refreshMode: 'full' },
    { id: soon.id, refreshMode: 'tags' },
  ]);
  await expect.poll(() => call('GET', `/ticket/${soon.id}`)).toMatchObject({ tagIds: [tag.id] });
  const spam = { spamStatus: 'manual_spam', aiSupportLevel: 'unprocessed', language: null, intents: [] };
  expect(await call('GET', `/ticket/${manual.id}`)).toMatchObject(spam);
});

test('a reply is proposed as the customer would get it, with a time at which it is sent, until a person changes the ticket', async () => {
  const message = '<p>About {{ticket.subject}}: {{in.tariff}}</p>';
  const template = await call('POST', '/template', { message, description: 'Tariff' });
  await call('POST', '/aiAgent', {
    name: 'Answer',
    detection: { keywords: ['Tarif'] },
    parameters: { properties: { tariff: { type: 'string', default: 'basic' } } },
    options: [{ type: 'send', name: 'Send', recommended: true, order: 1 }],
    executor: { type: 'reply', templateId: template.id },
    autoExecuteAfterMinutes: 60,
  });
  const subject = 'Mein Tarif';
  const { id, intents, autoExecuteAt } = await call('POST', '/ticket?process=realtime', { ...text, subject });
  const [proposed] = intents.filter(({ code }: { code: string }) => code === 'answer');
  expect(proposed).toMatchObject({ data: { tariff: 'basic' }, infos: [], recipient: text.from });
  expect(proposed.messagePreview).toContain(`About ${subject}: basic`);
  expect(autoExecuteAt).not.toBeNull();
  const { ticket } = await call('PATCH', `/ticket/${id}`, { priority: 'high' });
  expect(ticket).toMatchObject({ autoExecuteAt: null, priority: 'high' });
  expect((await call('GET', `/ticket/${id}`)).intents).toEqual(intents);
});

test('what is due is executed by the system; what is not executed has no time any more', async () => {
  const rules = { options: [{ type: 'up', name: 'Up', recommended: true, order: 1 }], autoExecuteAfterMinutes: 60 };
  const executor = { type: 'updateTicket', fields: { priority: 'urgent' } };
  const toAgent = (keyword: string) =>
    call('POST', '/aiAgent', { name: keyword, detection: { keywords: [keyword] }, executor, ...rules });
  const [, off] = [await toAgent('Störung'), await toAgent('Umzugshilfe')];
  const create = (subject: string) => call('POST', '/ticket?process=realtime', { ...text, subject });
  const tickets = [await create('Störung'), await create('Umzugshilfe'), await create('Störung')];
  for (const { autoExecuteAt } of tickets) expect(autoExecuteAt).not.toBeNull();
  const [due, cancelled, changed] = tickets.map(({ id }) => id);
  await call('PATCH', `/aiAgent/${off.id}`, { enabled: false });
  await call('PATCH', `/ticket/${changed}`, { priority: 'high' });
  const connection = await mongoose.createConnection(system.mongodbUri).asPromise();
  const intents = connection.useDb(`${system.name}_intents`).collection('intents');
  await intents.updateMany({ autoExecuteAt: { $ne: null } }, { $set: { autoExecuteAt: 1 } });
  await connection.close();
  const shown = (id: number) => call('GET', `/ticket/${id}`);
  const executed = { aiSupportLevel: 'automated', priority: 'urgent', autoExecuteAt: null };
  await expect.poll(() => shown(due)).toMatchObject(executed);
  await expect.poll(() => shown(cancelled)).toMatchObject({ autoExecuteAt: null });
  for (const id of [cancelled, changed]) {
    expect(await shown(id)).toMatchObject({ aiSupportLevel: 'bot', priority: id === changed ? 'high' : 'low' });
  }
  const lastEvent = async () => (await call('GET', `/event?ticketId=${cancelled}&limit=500`)).events.at(-1);
  const ended = { cause: 'schedule', changes: [{ field: 'autoExecuteAt', newValue: null }] };
  await expect.poll(lastEvent).toMatchObject(ended);
});

test.each([
  [{ refresh: true }, true],
  [{ refreshTags: true }, true],
  [{ refreshMode: 'tags' }, false],
])('the gateway returns the header Deprecation with %j: %s', async (flag, isDeprecated) => {
  const { id } = await call('POST', '/ticket?process=false', text);
  const response = await send('PATCH', '/ticket', [{ id, ...flag }]);
  expect([response.status, response.headers.has('deprecation')]).toEqual([200, isDeprecated]);
});

const fillers = 'bitte heute gern wieder danke bald sehr noch einmal immer'.split(' ');
const moving = (number: number) => ({
  ...text,
  subject: 'Neue Adresse',
  body: `Guten Tag, wir ziehen im ${fillers[number % 10]} um und brauchen ${fillers[(number * 3) % 10]} die neue Adresse für den Umzug.`,
});
const lottery = (number: number) => ({
  ...text,
  subject: 'Gewonnen',
  body: `Sie haben ${fillers[number % 10]} in der Lotterie eine Million gewonnen, klicken Sie ${fillers[(number * 3) % 10]} auf das Casino.`,
});

// guarantee: I20
test('what people decide about tickets is found in new ones; spam is left alone, until a person says that it is none', async () => {
  const [move, other] = [
    await call('POST', '/tag', { name: 'Umzug' }),
    await call('POST', '/tag', { name: 'Werbung' }),
  ];
  const create = (body: object) => call('POST', '/ticket?process=false', body);
  const decided = await Promise.all(
    fillers.flatMap((_, number) => [
      create(moving(number)).then(({ id }) => ({ id, tagIds: [move.id] })),
      create(lottery(number)).then(({ id }) => ({ id, tagIds: [other.id], spamStatus: 'manual_spam' })),
    ]),
  );
  await call('PATCH', '/ticket', decided);
  const arrive = (body: object) => call('POST', '/ticket?process=realtime', body);
  await expect
    .poll(() => arrive(moving(11)), { interval: 200 })
    .toMatchObject({ tagIds: [move.id], spamStatus: 'auto_clean' });
  const spam = await arrive(lottery(11));
  expect(spam).toMatchObject({ spamStatus: 'auto_spam', intents: [], aiSupportLevel: 'unprocessed' });
  await call('PATCH', '/ticket', [{ id: spam.id, spamStatus: 'manual_clean' }]);
  await call('PATCH', '/ticket', [{ id: spam.id, refreshMode: 'full' }]);
  const analysed = { spamStatus: 'manual_clean', aiSupportLevel: 'human', language: 'German' };
  await expect.poll(() => call('GET', `/ticket/${spam.id}`)).toMatchObject(analysed);
});
