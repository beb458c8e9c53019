import { sendRequest } from '@ticketing/testkit/send-request.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readExposition } from '../../tools/observability/prometheus-text.ts';
import { type System, startSystem } from './harness.ts';

let system: System;
/** The processes of each service; each request goes to the one that has waited longest. */
const replicas = new Map<string, string[]>();
const rounds = 8;

beforeAll(async () => {
  system = await startSystem();
  for (const service of ['tickets', 'settings', 'templates', 'intents', 'knowledge']) {
    const first = `http://127.0.0.1:${system.findPorts(service).http}`;
    replicas.set(service, [first, await system.startReplica(service)]);
  }
});
afterAll(() => system.stop());

/** Sends a request to the next process of a service. */
async function send(service: string, method: string, path: string, body?: object) {
  const urls = replicas.get(service) ?? [];
  const url = urls.shift() ?? '';
  urls.push(url);
  const token = await system.identity.internalToken(service, testCaller({ roleId: 1 }));
  const headers = { authorization: `Bearer ${token}` };
  return sendRequest(fetch, url, method, path, { headers, body });
}

/** Sends a request that must succeed. */
async function call(service: string, method: string, path: string, body?: object) {
  const { status, text, json } = await send(service, method, path, body);
  expect([200, 201], `${method} ${path} ${text}`).toContain(status);
  return json;
}

let made = 0;
/** Creates something under an unused name; returns its id. */
const create = async (service: string, path: string, body: object): Promise<number> => {
  made += 1;
  return (await call(service, 'POST', path, { name: `N ${made}`, ...body })).id;
};
const mailbox = (body: object = {}) =>
  create('settings', '/settings/subchannel', { channel: 'email', data: { address: `n${made}@example.org` }, ...body });
const tag = () => create('tickets', '/tag', {});
const emailTemplate = () => create('templates', '/emailTemplate', { template: '<p>%MESSAGE%</p>' });
const template = async (body: object = {}): Promise<number> =>
  (await call('templates', 'POST', '/template', { message: 'Hello', ...body })).id;
const agent = async (body: object = {}) => create('intents', '/aiAgent', body);
const ticket = (body: object = {}) => call('tickets', 'POST', '/ticket', { channel: 'email', ...body });
const content = { message: 'Hello', type: 'text' };
const to = ['kim@example.org'];

/** References to things that one service creates and all others can use at once. */
const uses: [string, () => Promise<unknown>][] = [
  [
    'a subchannel in a ticket, which other replicas show',
    async () => {
      const subchannelId = await mailbox();
      const { id } = await ticket({ subchannelId });
      for (const _ of replicas.get('tickets') ?? [])
        expect(await call('tickets', 'GET', `/ticket/${id}`)).toMatchObject({ subchannelId });
      const replied = await call('tickets', 'POST', `/ticket/${id}/conversation/reply`, { content, to });
      expect(replied.conversation).toMatchObject({ subchannelId, from: expect.stringContaining('@example.org') });
    },
  ],
  [
    'a subchannel in changes of tickets and in a message',
    async () => {
      const { id } = await ticket();
      await call('tickets', 'PATCH', `/ticket/${id}`, { subchannelId: await mailbox() });
      await call('tickets', 'PATCH', '/ticket', [{ id, subchannelId: await mailbox() }]);
      const subchannelId = await mailbox();
      await call('tickets', 'POST', `/ticket/${id}/conversation/reply`, { content, to, subchannelId });
    },
  ],
  [
    'a subchannel that was enabled',
    async () => {
      const subchannelId = await mailbox({ enabled: false });
      await call('settings', 'PATCH', `/settings/subchannel/${subchannelId}`, { enabled: true });
      await ticket({ subchannelId });
    },
  ],
  [
    'a subchannel in an AI agent, and in a webhook',
    async () => {
      await agent({ executor: { type: 'updateTicket', fields: { subchannelId: await mailbox() } } });
      const subchannelIds = [await mailbox()];
      await call('settings', 'POST', '/webhook', { url: 'https://example.org/hook', subchannelIds });
    },
  ],
  [
    'a tag in a ticket, a template, an AI agent, a knowledge source, and a setting',
    async () => {
      const { id } = await ticket({ tags: [await tag()] });
      await call('tickets', 'PATCH', `/ticket/${id}`, { tagIds: [await tag()] });
      await call('tickets', 'PATCH', '/ticket', [{ id, addTagIds: [await tag()] }]);
      await template({ tagId: await tag() });
      await agent({ detection: { tagIds: [await tag()] } });
      const source = { type: 'faq', title: 'T', tags: [await tag()] };
      await create('knowledge', '/knowledgeSource', source);
      await call('settings', 'PUT', '/settings/spamDetectionTagId', { value: await tag() });
    },
  ],
  [
    'a template in a reply, and in an AI agent that is executed',
    async () => {
      const { id: ticketId } = await ticket({ from: 'kim@example.org', subchannelId: await mailbox() });
      const reply = { templateId: await template(), to };
      await call('tickets', 'POST', `/ticket/${ticketId}/conversation/reply`, reply);
      const aiAgentId = await agent({ executor: { type: 'reply', templateId: await template() } });
      const { slug: code } = await call('intents', 'GET', `/aiAgent/${aiAgentId}`);
      const outcome = await call('intents', 'POST', '/intent/0/execute', { code, ticketId });
      expect(outcome).toMatchObject({ success: true });
    },
  ],
  [
    'an e-mail template in a template, a subchannel, and a setting',
    async () => {
      await template({ emailTemplateId: await emailTemplate() });
      await mailbox({ emailTemplateId: await emailTemplate() });
      await call('settings', 'PUT', '/settings/genericTemplateId', { value: await emailTemplate() });
    },
  ],
  [
    'an AI agent in a skill',
    async () => {
      await create('knowledge', '/skill', { aiAgentId: await agent() });
    },
  ],
  [
    'a sender in a mail',
    async () => {
      const { id } = await ticket();
      await call('settings', 'PUT', '/settings/mailFrom', { value: null });
      await call('settings', 'PUT', '/settings/mailFrom', { value: 'desk@example.org' });
      await call('tickets', 'POST', `/ticket/${id}/conversation/reply`, { content, to });
    },
  ],
];

test.each(uses)(
  // guarantee: I25
  '%s is known as soon as it was made, at each replica',
  async (_, use) => {
    for (let round = 0; round < rounds; round += 1) await use();
  },
);

/** How often the settings service was asked for all settings. */
async function configurationReads(): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${system.findPorts('settings').internal}/metrics`);
  const { samples } = readExposition(await response.text());
  const reads = samples.filter(({ name, labels }) => {
    return name === 'ticketing_requests_total' && labels.route?.endsWith('GetConfiguration');
  });
  return reads.reduce((sum, { value }) => sum + value, 0);
}

/** Waits until no service reads the settings because of an earlier change any more; returns the number of reads. */
async function settledReads(): Promise<number> {
  let reads = Number.NaN;
  const sinceThen = async () => {
    const before = reads;
    reads = await configurationReads();
    return reads - before;
  };
  await expect.poll(sinceThen, { interval: 2_000 }).toBe(0);
  return reads;
}

// guarantee: I25
test('sixty requests with a subchannel that does not exist ask the settings service once a second', async () => {
  const before = await settledReads();
  const startedAt = performance.now();
  const body = { channel: 'email', subchannelId: 999_999 };
  const sent = Array.from({ length: 60 }, () => send('tickets', 'POST', '/ticket', body));
  for (const { status, json } of await Promise.all(sent))
    expect([status, json.code]).toEqual([400, 'unknown_subchannel']);
  const seconds = Math.ceil((performance.now() - startedAt) / 1000);
  const asked = (await configurationReads()) - before;
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThanOrEqual((replicas.get('tickets')?.length ?? 0) * (seconds + 1));
});
