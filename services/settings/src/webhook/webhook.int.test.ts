import { golden } from '@ticketing/testkit/golden.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWebhookHarness, type WebhookHarness } from '../../test/webhook-harness.ts';

let harness: WebhookHarness;

const url = 'https://example.com/hook';

beforeAll(async () => {
  harness = await startWebhookHarness({ variables: { ROLES: 'api' } });
  const subchannel = { id: 4, channel: 1, name: 'Support', isDefault: false, interface: '', enabled: true };
  const subchannels = [{ ...subchannel, emailTemplateId: null, data: '{}', secrets: '{}' }];
  await harness.database
    .collection<{ _id: number }>('configuration')
    .insertOne({ _id: 1, version: 1, values: '{}', secrets: {}, subchannels } as never);
});

afterAll(() => harness.stop());

async function readProblem(response: ReturnType<WebhookHarness['request']>) {
  const { status, json } = await response;
  const { code, errors = [] } = json;
  return {
    status,
    code,
    errors: errors.map((error: { pointer: string; code: string }) => [error.pointer, error.code]),
  };
}

describe('a webhook endpoint', () => {
  it('is created, read, listed, changed and deleted', async () => {
    const created = await harness.createWebhook({ url, description: 'CRM', eventTypes: ['ticket.created'] });
    const { secret, ...webhook } = created;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await golden('webhook', webhook);
    expect((await harness.request('GET', `/webhook/${webhook.id}`)).json).toEqual(webhook);
    const change = { description: null, eventTypes: [], subchannelIds: [4], status: 'paused' };
    const changed = await harness.request('PATCH', `/webhook/${webhook.id}`, change);
    expect(changed.json).toEqual({ success: true, webhook: { ...webhook, ...change } });
    const other = await harness.createWebhook({ url, subchannelIds: [4], status: 'paused' });
    const { webhooks, ...page } = (await harness.request('GET', '/webhook?limit=1&offset=1')).json;
    expect(page).toEqual({ success: true, total: 2, limit: 1, offset: 1 });
    expect(webhooks.map(({ id }: { id: number }) => id)).toEqual([other.id]);
    for (const { id } of [webhook, other]) {
      expect((await harness.request('DELETE', `/webhook/${id}`)).json).toEqual({ success: true });
      expect(await readProblem(harness.request('GET', `/webhook/${id}`))).toMatchObject({
        status: 404,
        code: 'webhook_not_found',
      });
    }
    const later = await harness.createWebhook({ url });
    expect(later.id).toBeGreaterThan(other.id);
    await harness.request('DELETE', `/webhook/${later.id}`);
  });

  it.each([
    ['GET', '/webhook'],
    ['POST', '/webhook', { url }],
    ['GET', '/webhook/1'],
    ['PATCH', '/webhook/1', {}],
    ['DELETE', '/webhook/1'],
    ['POST', '/webhook/1/rotateSecret', {}],
    ['POST', '/webhook/1/test', {}],
    ['GET', '/webhook/1/delivery'],
    ['POST', '/webhook/1/delivery/dlv_1/redeliver', {}],
    ['POST', '/webhook/1/recover', { since: 0 }],
  ])('needs the right manageWebhooks for %s %s', async (method, path, body?: object) => {
    const refused = await harness.request(method, path, body, { caller: { permissions: [] } });
    expect(refused.status).toBe(403);
  });

  it.each([
    ['PATCH', '', {}],
    ['DELETE', ''],
    ['POST', '/rotateSecret', {}],
    ['POST', '/test', {}],
    ['GET', '/delivery'],
    ['POST', '/delivery/dlv_1/redeliver', {}],
    ['POST', '/recover', { since: 0 }],
  ])('that does not exist is 404 for %s %s', async (method, path, body?: object) => {
    expect(await readProblem(harness.request(method, `/webhook/99999${path}`, body))).toMatchObject({
      status: 404,
      code: 'webhook_not_found',
    });
  });

  it.each([
    ['#/url', 'address_refused', { url: 'http://10.0.0.1/' }],
    ['#/url', 'address_refused', { url: 'https://[::ffff:169.254.169.254]/' }],
    ['#/url', 'invalid_url', { url: 'ftp://example.com/' }],
    ['#/url', 'invalid_url', { url: 'https://user@example.com/' }],
    ['#/url', 'too_long', { url: `https://example.com/${'a'.repeat(2029)}` }],
    ['#/url', 'required', {}],
    ['#/eventTypes/0', 'not_allowed', { url, eventTypes: ['ticket.gone'] }],
    ['#/subchannelIds/1', 'unknown_subchannel', { url, subchannelIds: [4, 5] }],
    ['#/status', 'not_allowed', { url, status: 'disabled' }],
    ['#/secret', 'unknown_field', { url, secret: 'whsec_x' }],
    ['#/createdAt', 'read_only_field', { url, createdAt: 0 }],
    ['#/description', 'too_long', { url, description: 'a'.repeat(10_001) }],
  ])('is refused at %s with %s', async (pointer, code, body) => {
    const problem = await readProblem(harness.request('POST', '/webhook', body));
    expect(problem).toEqual({ status: 400, code, errors: [[pointer, code]] });
  });

  // asvs: 2.2.3
  it('is not changed to something that it could not be created with', async () => {
    const { id } = await harness.createWebhook({ url: `https://example.com/${'a'.repeat(2028)}` });
    for (const [pointer, code, body] of [
      ['#/url', 'address_refused', { url: 'https://127.1.2.3:1/'.replace('127.1.2.3', '192.168.0.1') }],
      ['#/status', 'not_allowed', { status: 'disabled' }],
      ['#/subchannelIds/0', 'unknown_subchannel', { subchannelIds: [5] }],
      ['#/url', 'null_not_allowed', { url: null }],
    ] as const) {
      const problem = await readProblem(harness.request('PATCH', `/webhook/${id}`, body));
      expect(problem).toEqual({ status: 400, code, errors: [[pointer, code]] });
    }
    await harness.request('DELETE', `/webhook/${id}`);
  });
});

describe('the secret of a webhook endpoint', () => {
  const key = (name: string) => ({ headers: { 'idempotency-key': name } });

  // guarantee: W11
  // asvs: 11.5.1
  it('is shown once: a replayed creation shows null, and no other response has it', async () => {
    const first = await harness.request('POST', '/webhook', { url }, key('create'));
    const replayed = await harness.request('POST', '/webhook', { url }, key('create'));
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');
    expect(replayed.json).toEqual({ ...first.json, secret: null });
    const { id } = first.json;
    const read = await harness.request('GET', `/webhook/${id}`);
    expect(read.json).not.toHaveProperty('secret');
    expect((await harness.request('PATCH', `/webhook/${id}`, {})).json.webhook).toEqual(read.json);
    await harness.request('DELETE', `/webhook/${id}`);
  });

  it('is replaced by a rotation, which is replayed without it', async () => {
    const { id, secret } = await harness.createWebhook({ url });
    const first = await harness.request('POST', `/webhook/${id}/rotateSecret`, {}, key('rotate'));
    expect(first.status).toBe(200);
    expect(first.json.secret).toMatch(/^whsec_/);
    expect(first.json.secret).not.toBe(secret);
    const replayed = await harness.request('POST', `/webhook/${id}/rotateSecret`, {}, key('rotate'));
    expect(replayed.json).toEqual({ success: true, secret: null });
    await harness.request('DELETE', `/webhook/${id}`);
  });

  it('can be rotated as long as at most 10 sign', async () => {
    const { id } = await harness.createWebhook({ url });
    const rotate = () => harness.request('POST', `/webhook/${id}/rotateSecret`, {});
    for (let count = 2; count <= 10; count += 1) expect((await rotate()).status).toBe(200);
    expect(await readProblem(rotate())).toMatchObject({ status: 409, code: 'too_many_secrets' });
    await harness.request('DELETE', `/webhook/${id}`);
  });

  // guarantee: W11
  // asvs: 14.2.4
  it('is nowhere in the database in clear', async () => {
    const { id, secret } = await harness.createWebhook({ url });
    const rotated = await harness.request('POST', `/webhook/${id}/rotateSecret`, {}, key('clear'));
    const collections = await harness.database.collections();
    const all = await Promise.all(collections.map((collection) => collection.find().toArray()));
    const stored = JSON.stringify(all);
    expect(stored).toContain('https://example.com/hook');
    for (const one of [secret, rotated.json.secret]) {
      const plain = one.slice('whsec_'.length);
      expect(stored).not.toContain(plain);
      expect(stored).not.toContain(Buffer.from(plain).toString('base64').slice(0, 40));
    }
    await harness.request('DELETE', `/webhook/${id}`);
  });
});

// asvs: 2.3.2
it('there are at most 100 endpoints, also when they are created at the same time', async () => {
  const create = () => harness.request('POST', '/webhook', { url });
  const responses = await Promise.all(Array.from({ length: 102 }, create));
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(100);
  const refused = responses.filter(({ status }) => status !== 201);
  expect(refused.map(({ status, json }) => [status, json.code])).toEqual([
    [409, 'too_many_webhooks'],
    [409, 'too_many_webhooks'],
  ]);
  await harness.request('DELETE', `/webhook/${responses.find(({ status }) => status === 201)?.json.id}`);
  expect((await create()).status).toBe(201);
  await harness.database.collection('webhooks').deleteMany({});
});
