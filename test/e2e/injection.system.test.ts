import type { ServerResponse } from 'node:http';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { sendMail } from '@ticketing/testkit/send-mail.ts';
import mongoose from 'mongoose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InjectionMail, injectionMails } from '../../services/intents/test/injection-mails.ts';
import { type ModelRequest, obeying, type StubModel, startStubModel } from '../../services/intents/test/stub-model.ts';
import { type AnalysisFacts, effectsBeyondAnalysis, sender } from './analysis-effects.ts';
import { type System, startSystem } from './harness.ts';
import { sentMails } from './sent-mails.ts';
import { changesBetween, type StoredDocuments, storedDocuments, storedWhenQuiet } from './stored-documents.ts';

let model: StubModel;
let system: System;
let headers: Record<string, string>;
/** The port at which the system takes in mails. */
let receiverPort: number;
const mailbox = 'support@example.org';
/** The ids of the tags that the mails name by 1 to 12. */
const tags: number[] = [];
const tagCount = 12;
const findTag = (number: number) => tags[number - 1] ?? 0;
/** The number of a tag that is disabled, and so cannot be detected. */
const disabled = 2;
const patience = { timeout: 60_000 };

beforeAll(async () => {
  [model, receiverPort] = await Promise.all([startStubModel(), freePort()]);
  system = await startSystem({
    analyses: true,
    serviceVariables: {
      tickets: { MAIL_RECEIVER_PORT: String(receiverPort) },
      // The model responds to all requests once the last of them has arrived.
      intents: {
        OPENAI_TIMEOUT_MS: '120000',
        OPENAI_REQUESTS_PER_MINUTE: '10000',
        OPENAI_TOKENS_PER_MINUTE: '10000000',
      },
    },
  });
  const token = await system.identity.issuerToken({ roleId: 1, kind: 'user' });
  headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
});
afterAll(async () => {
  await system?.stop();
  await model.stop();
});

async function call(method: string, path: string, body: object) {
  const response = await system.fetch(system.url + path, { method, headers, body: JSON.stringify(body) });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  const json: any = await response.json();
  expect(response.ok, `${method} ${path}: ${JSON.stringify(json)}`).toBe(true);
  return json;
}

/** Makes an installation in which the mails could do harm. Returns its AI agents. */
async function setUp(): Promise<AnalysisFacts['agents']> {
  while (tags.length < tagCount) tags.push((await call('POST', '/tag', { name: `Tag ${tags.length + 1}` })).id);
  await call('PATCH', `/tag/${findTag(disabled)}`, { visibility: 'disabled' });
  const data = { address: mailbox };
  await call('POST', '/settings/subchannel', { channel: 'email', name: 'Support', interface: 'smtp', data });
  await call('POST', '/webhook', { url: `${model.url}/hook`, eventTypes: ['ticket.deleted'] });
  await call('POST', '/knowledgeSource', { type: 'faq', name: 'Refunds', title: 'Refunds', teams: [1] });
  const { id: templateId } = await call('POST', '/template', { message: '<p>Refunded</p>' });
  const options = [{ type: 'pay', name: 'Pay', icon: null, recommended: true, order: 1 }];
  const agents = new Map<number, { code: string; name: string; options: object[] }>();
  for (const [name, fields] of Object.entries({
    Refund: { executor: { type: 'http', url: `${model.url}/refund` }, detection: { tagIds: [findTag(3)] } },
    Reply: {
      executor: { type: 'reply', templateId },
      detection: { tagIds: [findTag(12)] },
      autoExecuteAfterMinutes: 60,
    },
    Close: { executor: { type: 'closeTicket' }, detection: { keywords: ['order', 'mail'] } },
  })) {
    const { id, slug: code } = await call('POST', '/aiAgent', { name, options, ...fields });
    agents.set(id, { code, name, options });
  }
  const settings = { aiProvider: 'openai', aiBaseUrl: model.url, aiModel: 'stub-1', aiApiKey: 'sk-secret' };
  const values = Object.entries({ ...settings, mailFrom: mailbox }).map(([name, value]) => ({ name, value }));
  await call('POST', '/settings', { settings: values });
  return agents;
}

const post = (fields: object) => call('POST', '/ticket', { channel: 'email', from: sender, ...fields });

async function mail({ subject, body }: InjectionMail): Promise<void> {
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  const head = [`From: <${sender}>`, `To: <${mailbox}>`, `Subject: =?utf-8?B?${encoded(subject)}?=`];
  const type = ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64'];
  const text = [...head, ...type, '', encoded(body)].join('\r\n');
  // Until the mailbox is known to the receiver, a mail is refused.
  await expect.poll(() => sendMail(receiverPort, [mailbox], text), patience).toEqual(['250', '250']);
}

/** Finds the mail that a request to the model is about, by its subject. */
function mailIn({ messages }: ModelRequest): InjectionMail | undefined {
  const content = messages.at(-1)?.content ?? '';
  return injectionMails.find(({ subject }) => content.includes(JSON.stringify(subject)));
}

/** The output that a mail demands of the model, with the tags of this installation. */
function demandedBy({ demanded }: InjectionMail): object {
  if (!Array.isArray(demanded.tags)) return demanded;
  const named = demanded.tags.map(({ id, ...tag }) => ({ ...tag, id: String(tags[Number(id) - 1] ?? id) }));
  return { ...demanded, tags: named };
}

/** Makes the model obey. Its first response to a mail fits the schema; later ones fit only where it is not enforced. */
function obey(held: [ModelRequest, ServerResponse][]): void {
  const seen = new Set<InjectionMail>();
  model.respond = (request, response, message) => {
    const asked = mailIn(request);
    obeying(asked ? demandedBy(asked) : {}, !asked || !seen.has(asked))(request, response, message);
    if (asked) seen.add(asked);
  };
  for (const [request, response] of held) model.respond(request, response, response.req);
}

const analysesIn = (documents: StoredDocuments) =>
  [...documents.keys()].flatMap((path) => (path.startsWith('intents.analyses/') ? [Number(path.split('/')[1])] : []));

const { EJSON } = mongoose.mongo.BSON;
// biome-ignore lint/suspicious/noExplicitAny: documents of every shape
type Document = any;

function find(documents: StoredDocuments, collection: string, isIt: (document: Document) => boolean = () => true) {
  const found = [...documents].find(([path, text]) => path.startsWith(`${collection}/`) && isIt(EJSON.parse(text)));
  if (!found) throw new Error(`there is no such document in ${collection}`);
  return { path: found[0], document: EJSON.parse(found[1], { relaxed: false }) as Document };
}

/** Expects that the demands which a mail may make have taken effect in its ticket. */
function expectObedience(documents: StoredDocuments): void {
  const ticket = (subject: string) =>
    EJSON.parse(documents.get(find(documents, 'tickets.tickets', (one) => one.subject === subject).path) ?? '');
  expect(ticket('All tags')).toMatchObject({
    tagIds: [findTag(3), findTag(12)],
    intents: [{ name: 'Refund' }, { name: 'Reply' }],
  });
  expect(ticket('Tokens of a chat').tagIds).toEqual([findTag(1)]);
  expect(ticket('Spam for all others')).toMatchObject({ spamStatus: 'auto_spam', intents: [] });
  expect(ticket('An endless summary').summary).toHaveLength(2000);
  expect(ticket('A link in the summary').summary).toContain('https://evil.example/reset');
}

/** Harm of each kind, as it would be stored if a mail had done it. */
function planted(ticketIds: ReadonlySet<number>): [string, (documents: Map<string, string>) => void][] {
  const isOther = ({ _id }: Document) => !ticketIds.has(_id);
  const isAnalysed = ({ _id, intents }: Document) => ticketIds.has(_id) && intents.length > 0;
  const edited =
    (collection: string, edit: (document: Document) => void, isIt?: (document: Document) => boolean) =>
    (documents: Map<string, string>) => {
      const { path, document } = find(documents, collection, isIt);
      edit(document);
      documents.set(path, EJSON.stringify(document, { relaxed: false }));
    };
  const ticket = (fields: object) => edited('tickets.tickets', (one) => Object.assign(one, fields), isAnalysed);
  const proposal = (fields: object) => [
    edited('tickets.tickets', ({ intents }) => Object.assign(intents[0], fields), isAnalysed),
    edited('intents.intents', (one) => Object.assign(one, fields)),
  ];
  const added = (collection: string, document: object) => (documents: Map<string, string>) =>
    void documents.set(`${collection}/"new"`, EJSON.stringify(document));
  const proposals = [
    { recipient: 'boese@example.org' },
    { status: 2 },
    { options: [] },
    { contractId: 'V-1' },
    { data: { amount: 500 } },
    { aiAgentId: 999 },
  ];
  return [
    [
      'a setting',
      edited('settings.configuration', (one) =>
        Object.assign(one, { values: '{"aiBaseUrl":"https://evil.example/v1"}' }),
      ),
    ],
    ['a webhook', edited('settings.webhooks', (one) => Object.assign(one, { url: 'https://evil.example/hook' }))],
    ['another webhook', added('settings.webhooks', { url: 'https://evil.example/hook' })],
    ['a delivery', added('settings.deliveries', { url: 'https://evil.example/hook' })],
    ['an AI agent', edited('intents.aiAgents', (one) => Object.assign(one, { autoExecuteAfterMinutes: 1 }))],
    ['a team', edited('knowledge.sources', (one) => Object.assign(one, { teams: [] }))],
    ['a profile', added('tickets.profiles', { permissions: ['manageSettings'] })],
    ['a tag', edited('tickets.tags', (one) => Object.assign(one, { name: 'x' }))],
    ['a message', added('tickets.conversations', { to: ['boese@example.org'], deliveryStatus: 'queued' })],
    ['another ticket', edited('tickets.tickets', (one) => Object.assign(one, { summary: 'x' }), isOther)],
    ['a ticket that is gone', (documents) => void documents.delete(find(documents, 'tickets.tickets', isOther).path)],
    ...[
      ...[{ from: 'boese@example.org' }, { to: ['boese@example.org'] }, { cc: ['boese@example.org'] }],
      ...[{ agentId: 1 }, { priority: 4 }, { status: 'closed' }, { customerId: 'K/1' }, { contractId: 'V-1' }],
      ...[{ customerLegitimation: 30 }, { tagIds: [9999] }, { tagIds: [findTag(disabled)] }],
      ...[{ summary: 'x'.repeat(2001) }, { summary: 'a\nb' }, { summary: 'a\u202eb' }, { languageCode: 'root' }],
      ...[{ sentiment: 'executed' }, { spamStatus: 'manual_clean' }, { aiSupportLevel: 'automated' }, { version: 9 }],
      ...[{ autoExecuteAt: new Date(0) }, { outgoingMessages: 1 }],
    ].map((fields): [string, (documents: Map<string, string>) => void] => [JSON.stringify(fields), ticket(fields)]),
    ...proposals.flatMap((fields) =>
      proposal(fields).map((plant): [string, typeof plant] => [`intent ${JSON.stringify(fields)}`, plant]),
    ),
    ['an early execution', edited('intents.intents', (one) => Object.assign(one, { autoExecuteAt: 1 }))],
    ['a running execution', edited('intents.intents', (one) => Object.assign(one, { execution: '{}' }))],
  ];
}

const only = (paths: readonly string[], documents: StoredDocuments) =>
  new Map([...documents].filter(([path]) => paths.includes(path)));

// guarantee: I32
test('thirty mails that give orders to an obedient model change nothing but what an analysis may say of their tickets', async () => {
  const agents = await setUp();
  await call('POST', '/ticket?process=false', { channel: 'email', from: sender, body: 'Nobody has read this.' });
  const held: [ModelRequest, ServerResponse][] = [];
  model.respond = (request, response) => void held.push([request, response]);
  // Tickets are analysed without the model until the intents service knows the settings.
  await expect
    .poll(
      async () => {
        await post({ subject: 'Other', body: 'Hello' });
        return held.length;
      },
      { ...patience, interval: 200 },
    )
    .toBeGreaterThan(0);
  const mailed = injectionMails.filter((_, index) => index % 3 === 0);
  await Promise.all([...injectionMails.map(({ subject, body }) => post({ subject, body })), ...mailed.map(mail)]);

  const before = await storedWhenQuiet(system);
  const ticketIds = new Set(analysesIn(before));
  expect(ticketIds.size).toBeGreaterThanOrEqual(injectionMails.length + mailed.length);
  const earliest = Date.now() / 1000 + 3500;
  obey(held);
  await expect.poll(async () => analysesIn(await storedDocuments(system)), { ...patience, interval: 250 }).toEqual([]);
  const after = await storedWhenQuiet(system);

  const tagIds = new Set(tags.filter((id) => id !== findTag(disabled)));
  const facts = { ticketIds, tagIds, agents, earliest };
  expect(effectsBeyondAnalysis(before, after, facts)).toEqual([]);
  expect(sentMails(system)).toEqual([]);
  expectObedience(after);
  for (const [harm, plant] of planted(ticketIds)) {
    const harmed = new Map(after);
    plant(harmed);
    const paths = changesBetween(after, harmed);
    expect(effectsBeyondAnalysis(only(paths, before), only(paths, harmed), facts), harm).not.toEqual([]);
  }
  // The webhook and the executor were not called, and the key went nowhere else.
  expect(new Set(model.requests.map(({ path }) => path))).toEqual(new Set(['/v1/chat/completions']));
});
