import { golden } from '@ticketing/testkit/golden.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type IntentsHarness, manager, startHarness } from '../../test/harness.ts';
import { emptyModel } from '../../test/stub-called.ts';

let intents: IntentsHarness;

beforeAll(async () => {
  intents = await startHarness();
});
afterEach(async () => {
  await intents.database.collection('aiAgents').deleteMany({});
  Object.assign(intents.model, emptyModel());
});
afterAll(() => intents.stop());

const post = (body: object) => intents.manage('POST', '/aiAgent', body);
const patch = (id: number, body: object) => intents.manage('PATCH', `/aiAgent/${id}`, body);
const get = (id: number) => intents.manage('GET', `/aiAgent/${id}`);
const list = (query = '') => intents.manage('GET', `/aiAgent${query}`);

/** A body with a value for each field. */
const everything = {
  name: 'Zählerstand melden',
  slug: 'meter-reading',
  description: 'Records a meter reading.',
  enabled: false,
  channels: ['email', 'portal'],
  detection: { keywords: ['Zählerstand'], tagIds: [1, 2], minConfidence: 0.75 },
  customerNeeded: true,
  parameters: { type: 'object', properties: { reading: { type: 'integer' } }, required: ['reading'] },
  options: [
    { type: 'save', name: 'Save', icon: 'check', recommended: true, order: 1 },
    { type: 'reject', name: 'Reject', order: 2 },
  ],
  executor: {
    type: 'http',
    url: 'https://backend.example.com/readings',
    method: 'PUT',
    headers: { Authorization: 'Bearer hidden-1' },
    secret: 'hidden-2-hidden-2',
    timeoutMs: 5000,
    responseMapping: { responseCode: '/code', messageLocalized: '/text' },
  },
  autoExecuteAfterMinutes: 30,
  executableBy: { kinds: ['user', 'serviceWorker'], permission: 'executeReadings' },
  allowClosed: true,
};

describe('an AI agent', () => {
  it('is created with defaults or with every field, read, listed, and deleted', async () => {
    intents.model.tagIds = new Set([1, 2]);
    const minimal = await post({ name: 'A' });
    expect(minimal.status).toBe(201);
    await golden('ai-agent-minimal', { ...minimal.json, id: 1 });
    const full = await post(everything);
    expect(full.status, full.text).toBe(201);
    await golden('ai-agent-full', { ...full.json, id: 2 });
    expect((await get(full.json.id)).json).toEqual(full.json);
    const page = { success: true, total: 2, offset: 0, limit: 100 };
    expect((await list()).json).toEqual({ ...page, aiAgents: [minimal.json, full.json] });
    expect((await list('?offset=1&limit=1')).json).toEqual({ ...page, aiAgents: [full.json], offset: 1, limit: 1 });
    expect((await intents.manage('DELETE', `/aiAgent/${full.json.id}`)).json).toEqual({ success: true });
    expect((await get(full.json.id)).json.code).toBe('ai_agent_not_found');
    expect((await intents.manage('DELETE', `/aiAgent/${full.json.id}`)).json.code).toBe('ai_agent_not_found');
    expect((await patch(full.json.id, { name: 'B' })).status).toBe(404);
  });

  it('keeps what a PATCH leaves out, clears what is null, and sets the rest', async () => {
    intents.model.tagIds = new Set([1, 2]);
    const { json: created } = await post(everything);
    const renamed = await patch(created.id, { name: 'B', description: null, autoExecuteAfterMinutes: null });
    expect(renamed.json.success).toBe(true);
    const { modifiedAt: _, ...before } = created;
    const { modifiedAt: _changed, ...after } = renamed.json.aiAgent;
    expect(after).toEqual({ ...before, name: 'B', description: null, autoExecuteAfterMinutes: null });
    const emptied = await patch(created.id, {
      parameters: null,
      options: [],
      channels: [],
      detection: {},
      executor: { type: 'none' },
      enabled: true,
      customerNeeded: false,
      slug: 'other',
      executableBy: {},
      allowClosed: null,
    });
    await golden('ai-agent-changed', { ...emptied.json, aiAgent: { ...emptied.json.aiAgent, id: 1 } });
    expect((await get(created.id)).json).toEqual(emptied.json.aiAgent);
  });

  it.each([
    'name',
    'slug',
    'enabled',
    'channels',
    'detection',
    'customerNeeded',
    'options',
    'executor',
    'executableBy',
  ])('cannot lose its %s', async (field) => {
    const { json } = await post({ name: 'A' });
    expect(violationsOf(await patch(json.id, { [field]: null }))).toEqual([`#/${field} null_not_allowed`]);
  });

  it.each(['id', 'createdAt', 'modifiedAt'])('has a %s that no request sets', async (field) => {
    const { json } = await post({ name: 'A' });
    expect(violationsOf(await post({ name: 'A', [field]: json[field] }))).toEqual([`#/${field} read_only_field`]);
    expect(violationsOf(await patch(json.id, { [field]: json[field] }))).toEqual([`#/${field} read_only_field`]);
  });

  it('is not written by a PATCH that changes nothing', async () => {
    const { json } = await post({ name: 'A', executor: { type: 'closeTicket' } });
    const stored = () => intents.database.collection('aiAgents').findOne({ slug: 'a' });
    const before = await stored();
    expect((await patch(json.id, {})).json.aiAgent).toEqual(json);
    expect((await patch(json.id, { name: 'A', executor: { type: 'closeTicket' } })).json.aiAgent).toEqual(json);
    expect(await stored()).toEqual(before);
  });

  // guarantee: O9
  it('is created once by a request that is repeated with its key', async () => {
    const headers = { 'idempotency-key': 'once' };
    const again = () => intents.manage('POST', '/aiAgent', everything, { caller: manager, headers });
    intents.model.tagIds = new Set([1, 2]);
    const [first, second] = [await again(), await again()];
    expect(second.json).toEqual(first.json);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect((await list()).json.total).toBe(1);
    const [stored] = await intents.database.collection('idempotencyKeys').find().toArray();
    const response = Buffer.from(stored?.response.value()).toString('latin1');
    expect(response).toContain('meter-reading');
    expect(response).not.toContain('hidden-');
  });

  // guarantee: F19
  it('whose process died before it responded is created once, and not again after it was deleted', async () => {
    const headers = { 'idempotency-key': 'died' };
    const again = () => intents.manage('POST', '/aiAgent', { name: 'A' }, { caller: manager, headers });
    const first = await again();
    const forget = async () => {
      const running = { state: 'running', response: null, 'lease.expiresAt': new Date(0) };
      await intents.database
        .collection('idempotencyKeys')
        .updateOne({ 'reserved.aiAgent': first.json.id }, { $set: running });
    };
    await forget();
    const second = await again();
    expect([second.status, second.json]).toEqual([201, first.json]);
    expect((await list()).json.total).toBe(1);
    await intents.manage('DELETE', `/aiAgent/${first.json.id}`);
    await forget();
    expect((await again()).json.code).toBe('ai_agent_not_found');
    expect((await list()).json.total).toBe(0);
  });

  it.each([
    ['GET', '/aiAgent'],
    ['POST', '/aiAgent'],
    ['GET', '/aiAgent/1'],
    ['PATCH', '/aiAgent/1'],
    ['DELETE', '/aiAgent/1'],
  ])('is out of reach for %s %s without the right', async (method, path) => {
    const body = method === 'POST' || method === 'PATCH' ? { body: { name: 'A' } } : {};
    const refused = await intents.request(method, path, body);
    expect(refused.status).toBe(403);
    expect(refused.json.code).toBe('missing_right');
  });
});

describe('a slug', () => {
  it('is derived from the name, with a number if it is taken, and stays when the name changes', async () => {
    const first = await post({ name: 'Zählerstand melden' });
    expect(first.json.slug).toBe('zaehlerstand-melden');
    expect((await post({ name: 'Zählerstand  MELDEN!' })).json.slug).toBe('zaehlerstand-melden-2');
    expect((await post({ name: 'zaehlerstand-melden' })).json.slug).toBe('zaehlerstand-melden-3');
    expect((await post({ name: '電力' })).json.slug).toBe('agent');
    expect((await patch(first.json.id, { name: 'Other' })).json.aiAgent.slug).toBe('zaehlerstand-melden');
  });

  it('that is given and taken is refused, by POST and by PATCH', async () => {
    const { json } = await post({ name: 'A', slug: 'a' });
    const refused = await post({ name: 'B', slug: 'a' });
    expect([refused.status, refused.json.code]).toEqual([409, 'duplicate_ai_agent']);
    const other = await post({ name: 'B' });
    expect((await patch(other.json.id, { slug: 'a' })).json.code).toBe('duplicate_ai_agent');
    expect((await patch(json.id, { slug: 'a' })).status).toBe(200);
    expect((await list()).json.total).toBe(2);
  });

  it('is unique when 50 AI agents of the same name are created at once', async () => {
    const created = await Promise.all(Array.from({ length: 50 }, () => post({ name: 'Same' })));
    expect(created.map(({ status }) => status)).toEqual(Array(50).fill(201));
    const expected = Array.from({ length: 50 }, (_, index) => (index === 0 ? 'same' : `same-${index + 1}`));
    expect(new Set(created.map(({ json }) => json.slug))).toEqual(new Set(expected));
  });

  it('that is given belongs to one of 20 AI agents that are created at once', async () => {
    const created = await Promise.all(Array.from({ length: 20 }, () => post({ name: 'Same', slug: 'same' })));
    expect(created.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
  });

  it.each(['', 'A', 'a_b', '-a', 'a-', 'a--b', 'ä', 'a'.repeat(101)])('cannot be %j', async (slug) => {
    expect((await post({ name: 'A', slug })).status).toBe(400);
  });
});

describe('the limits', () => {
  const text = (length: number) => 'x'.repeat(length);
  const option = (fields: object) => ({ options: [{ type: 'a', name: 'A', ...fields }] });
  const options = (count: number) => ({
    options: Array.from({ length: count }, (_, index) => ({ type: `t${index}`, name: 'A' })),
  });

  it.each<[string, (size: number) => object, number, string]>([
    ['name', (size) => ({ name: text(size) }), 320, '#/name too_long'],
    ['description', (size) => ({ description: text(size) }), 10_000, '#/description too_long'],
    ['keyword', (size) => ({ detection: { keywords: [text(size)] } }), 320, '#/detection/keywords/0 too_long'],
    [
      'keywords',
      (size) => ({ detection: { keywords: Array(size).fill('k') } }),
      100,
      '#/detection/keywords too_many_items',
    ],
    ['minConfidence', (size) => ({ detection: { minConfidence: size } }), 1, '#/detection/minConfidence out_of_range'],
    ['options', options, 20, '#/options too_many_items'],
    ['type of an option', (size) => option({ type: text(size) }), 100, '#/options/0/type too_long'],
    ['name of an option', (size) => option({ name: text(size) }), 320, '#/options/0/name too_long'],
    ['icon of an option', (size) => option({ icon: text(size) }), 320, '#/options/0/icon too_long'],
    ['minutes', (size) => ({ autoExecuteAfterMinutes: size }), 525_600, '#/autoExecuteAfterMinutes out_of_range'],
  ])('of a %s: the most is accepted, one more refused', async (_, fields, most, refusal) => {
    const accepted = await post({ name: 'A', ...fields(most) });
    expect(accepted.status, accepted.text).toBe(201);
    expect(violationsOf(await post({ name: 'A', ...fields(most + 1) }))).toEqual([refusal]);
    expect(violationsOf(await patch(accepted.json.id, fields(most + 1)))).toEqual([refusal]);
  });

  it.each<[object, string]>([
    [{ name: ' \t' }, '#/name too_short'],
    [{ detection: { keywords: [' '] } }, '#/detection/keywords/0 too_short'],
    [{ detection: { minConfidence: -0.1 } }, '#/detection/minConfidence out_of_range'],
    [{ autoExecuteAfterMinutes: 0 }, '#/autoExecuteAfterMinutes out_of_range'],
    [{ channels: ['email', 'email'] }, '#/channels duplicate_item'],
    [{ options: [{ type: 'a' }] }, '#/options/0/name required'],
    [{ options: [{ name: 'A' }] }, '#/options/0/type required'],
    [{ options: [{ type: ' ', name: 'A' }] }, '#/options/0/type too_short'],
    [{ options: [{ type: 'a', name: ' ' }] }, '#/options/0/name too_short'],
    [options2('a', 'a'), '#/options/1/type duplicate_item'],
    [
      { options: ['a', 'b'].map((type) => ({ type, name: 'A', recommended: true })) },
      '#/options/1/recommended conflicting_options',
    ],
  ])('refuse %j', async (fields, refusal) => {
    expect(violationsOf(await post({ name: 'A', ...fields }))).toEqual([refusal]);
  });

  function options2(...types: string[]) {
    return { options: types.map((type) => ({ type, name: 'A' })) };
  }
});
