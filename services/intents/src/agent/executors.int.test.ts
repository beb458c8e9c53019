import { createServer } from 'node:http';
import { AiAgentService } from '@ticketing/contracts/ticketing/intents/v1/ai_agent_service_pb.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { secretBox } from '@ticketing/text/sealed-text.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest';
import { type IntentsHarness, startHarness } from '../../test/harness.ts';
import { emptyModel } from '../../test/stub-called.ts';
import { headerBinding, signatureBinding } from './rules/http-executor.ts';

let intents: IntentsHarness;

beforeAll(async () => {
  intents = await startHarness();
});
afterEach(async () => {
  await intents.database.collection('aiAgents').deleteMany({});
  Object.assign(intents.model, emptyModel());
});
afterAll(() => intents.stop());

const post = (executor: object) => intents.manage('POST', '/aiAgent', { name: 'A', executor });
const patch = (id: number, executor: object) => intents.manage('PATCH', `/aiAgent/${id}`, { executor });
const storedAgents = () => intents.database.collection('aiAgents').find().toArray();
const storedExecutor = async () => JSON.parse((await storedAgents())[0]?.executor);

const url = 'https://backend.example.com/run';
const http = { type: 'http', url };

/** Decrypts the stored secrets, as the service would send them to a backend system. */
async function readSecrets(id: number) {
  const box = secretBox(
    [Buffer.from(intents.environment.TICKETING_INTENTS_ENCRYPTION_KEY ?? '', 'base64')],
    systemRuntime,
  );
  const { headers, secret } = await storedExecutor();
  return {
    secret: secret && box.open(secret, signatureBinding(id)),
    headers: Object.fromEntries(
      Object.keys(headers).map((name) => [name, box.open(headers[name], headerBinding(id, name))]),
    ),
  };
}

const members = {
  url,
  method: 'POST',
  headers: {},
  secret: 'x'.repeat(16),
  timeoutMs: 100,
  responseMapping: {},
  templateId: 1,
  fields: { status: 'closed' },
};
const membersOf: Record<string, (keyof typeof members)[]> = {
  http: ['url', 'method', 'headers', 'secret', 'timeoutMs', 'responseMapping'],
  reply: ['templateId'],
  updateTicket: ['fields'],
  closeTicket: [],
  none: [],
};

describe('an executor', () => {
  it.each(Object.keys(membersOf))('of type %s takes its own members, and null for those of others', async (type) => {
    intents.model.templateIds.add(1);
    const own = new Set<string>(membersOf[type]);
    const executor = Object.fromEntries(
      Object.entries(members).map(([name, value]) => [name, own.has(name) ? value : null]),
    );
    const created = await post({ type, ...executor });
    expect(created.status, created.text).toBe(201);
    expect(created.json.executor).toEqual({ type, ...executor, secret: null });
    expect((await patch(created.json.id, created.json.executor)).json.aiAgent).toEqual(created.json);
  });

  it.each(Object.keys(membersOf))('of type %s takes no member of another type', async (type) => {
    intents.model.templateIds.add(1);
    const own = membersOf[type] ?? [];
    const foreign = Object.keys(members).filter((name) => !own.includes(name as keyof typeof members));
    const refused = await post({ type, ...members });
    expect(violationsOf(refused)).toEqual(foreign.map((name) => `#/executor/${name} invalid_executor`).sort());
  });

  it.each<[object, string]>([
    [{}, '#/executor/type required'],
    [{ type: 'shell' }, '#/executor/type not_allowed'],
    [{ type: 'http' }, '#/executor/url required'],
    [{ type: 'reply' }, '#/executor/templateId required'],
    [{ type: 'updateTicket' }, '#/executor/fields required'],
  ])('cannot be %j', async (executor, refusal) => {
    expect(violationsOf(await post(executor))).toEqual([refusal]);
  });

  it('has the defaults POST and 10 seconds', async () => {
    expect((await post(http)).json.executor).toMatchObject({
      method: 'POST',
      timeoutMs: 10_000,
      headers: {},
      responseMapping: {},
    });
  });
});

describe('the URL of a backend system', () => {
  let guarded: IntentsHarness;
  beforeAll(async () => {
    guarded = await startHarness({ variables: { OUTBOUND_ALLOW: '' } });
  });
  afterAll(() => guarded.stop());

  it.each<[string, string]>([
    ['http://backend.example.com/', 'invalid_url'],
    ['https://user:secret@backend.example.com/', 'invalid_url'],
    ['https://169.254.169.254/latest/meta-data', 'address_refused'],
    ['https://[::ffff:10.0.0.1]/', 'address_refused'],
    ['https://2130706433/', 'address_refused'],
    ['ftp://backend.example.com/', 'invalid_url'],
    [`https://backend.example.com/${'x'.repeat(2048)}`, 'invalid_url'],
  ])('cannot be %s', async (refused, code) => {
    const executor = { type: 'http', url: refused };
    const response = await guarded.manage('POST', '/aiAgent', { name: 'A', executor });
    expect(violationsOf(response)).toEqual([`#/executor/url ${code}`]);
  });

  it('is not called when it is saved', async () => {
    let calls = 0;
    const server = createServer(() => {
      calls += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const created = await post({ type: 'http', url: `http://127.0.0.1:${port}/` });
    expect(created.status, created.text).toBe(201);
    server.close();
    expect(calls).toBe(0);
  });
});

describe('headers', () => {
  const withHeaders = (headers: object) => post({ ...http, headers });

  it.each([
    ...['Host', 'content-length', 'Content-Type', 'content-encoding', 'Transfer-Encoding', 'Connection', 'Keep-Alive'],
    ...[
      'Proxy-Authorization',
      'Proxy-Connection',
      'TE',
      'Trailer',
      'Upgrade',
      'Expect',
      'Idempotency-Key',
      'Traceparent',
    ],
    ...['webhook-signature', 'a b', 'a:b', 'ä', '', 'x'.repeat(101), 'a\r\nb'],
    // guarantee: O9
  ])('cannot be named %j', async (name) => {
    const at = name.replaceAll('/', '~1');
    expect(violationsOf(await withHeaders({ [name]: 'v' }))).toEqual([`#/executor/headers/${at} invalid_header`]);
  });

  // guarantee: O9
  it.each(['', ' ', 'a\r\nb: c', 'a\nb', 'a\0', 'ä', ' a', 'a '])('cannot have the value %j', async (value) => {
    expect(violationsOf(await withHeaders({ 'X-A': value }))).toEqual(['#/executor/headers/X-A invalid_header']);
  });

  it.each<[object, string]>([
    [{ a: 1 }, '#/executor/headers/a wrong_type'],
    [{ a: 'x'.repeat(4097) }, '#/executor/headers/a too_long'],
    [{ 'x-a': 'b', 'X-A': 'b' }, '#/executor/headers/X-A duplicate_item'],
    [{ a: null }, '#/executor/headers/a secret_required'],
    [
      Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`h${index}`, 'v'])),
      '#/executor/headers too_many_items',
    ],
    [{ a: { b: 1 } }, '#/executor/headers too_deep'],
  ])('cannot be %j', async (headers, refusal) => {
    expect(violationsOf(await withHeaders(headers))).toContain(refusal);
  });

  it('may be 20, with values of 4096 characters, Authorization among them', async () => {
    const names = Array.from({ length: 19 }, (_, index) => [`h${index}`, 'v']);
    const headers = { ...Object.fromEntries(names), Authorization: `Bearer ${'x'.repeat(4089)}` };
    const created = await withHeaders(headers);
    expect(created.status, created.text).toBe(201);
    expect(Object.keys(created.json.executor.headers)).toEqual(Object.keys(headers));
  });
});

describe('the response mapping', () => {
  it.each<[object, string]>([
    [{ other: '/a' }, '#/executor/responseMapping/other unknown_field'],
    [{ message: 1 }, '#/executor/responseMapping/message wrong_type'],
    [{ message: 'a' }, '#/executor/responseMapping/message invalid_format'],
    [{ message: '/~2' }, '#/executor/responseMapping/message invalid_format'],
    [{ message: `/${'x'.repeat(320)}` }, '#/executor/responseMapping/message too_long'],
  ])('cannot be %j', async (responseMapping, refusal) => {
    expect(violationsOf(await post({ ...http, responseMapping }))).toEqual([refusal]);
  });

  it('has JSON Pointers', async () => {
    const responseMapping = { responseCode: '', success: '/a~0b/c~1d/0', message: `/${'x'.repeat(319)}` };
    expect((await post({ ...http, responseMapping })).json.executor.responseMapping).toEqual(responseMapping);
  });
});

describe('secrets', () => {
  const secret = 'hidden-hidden-hidden';

  // guarantee: O9
  it('are encrypted, never returned, and stay when they are not given', async () => {
    const headers = { 'X-Key': 'hidden-1', 'X-Old': 'hidden-2' };
    const { json } = await post({ ...http, secret, headers });
    expect(JSON.stringify(await storedAgents())).not.toContain('hidden');
    const again = await patch(json.id, { ...http, headers: { 'x-key': null, 'X-New': 'hidden-3' } });
    expect(again.json.aiAgent.executor.headers).toEqual({ 'x-key': null, 'X-New': null });
    expect(await readSecrets(json.id)).toEqual({ secret, headers: { 'x-key': 'hidden-1', 'X-New': 'hidden-3' } });
    for (const { text } of [
      again,
      await intents.manage('GET', `/aiAgent/${json.id}`),
      await intents.manage('GET', '/aiAgent'),
    ]) {
      expect(text).not.toContain('hidden');
    }
  });

  // guarantee: O9
  it('are not sent to another server than that for which they were given', async () => {
    const { json } = await post({ ...http, headers: { 'X-Key': 'hidden-1' } });
    const moved = { ...json.executor, url: 'https://other.example.com/run' };
    expect(violationsOf(await patch(json.id, moved))).toEqual(['#/executor/headers/X-Key secret_required']);
    const path = await patch(json.id, { ...json.executor, url: 'https://backend.example.com/other' });
    expect(path.status).toBe(200);
    expect((await patch(json.id, { ...moved, headers: { 'X-Key': 'hidden-2' } })).status).toBe(200);
    expect((await readSecrets(json.id)).headers).toEqual({ 'X-Key': 'hidden-2' });
  });

  it('are gone with another type', async () => {
    const { json } = await post({ ...http, secret });
    await patch(json.id, { type: 'none' });
    await patch(json.id, http);
    expect(await readSecrets(json.id)).toEqual({ secret: null, headers: {} });
  });

  it.each([15, 1025])('of %i characters sign nothing', async (length) => {
    expect((await post({ ...http, secret: 'x'.repeat(length) })).status).toBe(400);
  });

  it('that two requests change at the same time are those of one of them, with its URL', async () => {
    const { json } = await post({ ...http, headers: { Key: 'hidden 0' } });
    const given = Array.from({ length: 10 }, (_, nth) => ({
      type: 'http',
      url: `https://backend-${nth}.example.com/`,
      headers: { Key: `hidden ${nth}` },
    }));
    const changed = await Promise.all(given.map((executor) => patch(json.id, executor)));
    expect(new Set(changed.map(({ status }) => status))).toEqual(new Set([200]));
    const { url: last } = await storedExecutor();
    expect((await readSecrets(json.id)).headers.Key).toBe(`hidden ${/\d/.exec(last)?.[0]}`);
    expect((await storedAgents())[0]?.version).toBe(11);
  });
});

describe('the fields of a ticket', () => {
  const withFields = (fields: object) => post({ type: 'updateTicket', fields });

  // guarantee: I28
  it('are decoded and checked as in PATCH /ticket, and returned as they were given', async () => {
    const fields = { status: 'closed', priority: 'high', addTagIds: [1], dueBy: '2026-12-01', contractId: null };
    const created = await withFields(fields);
    expect(created.json.executor.fields).toEqual(fields);
    expect(intents.model.checked).toMatchObject([
      { updateMask: { paths: ['status', 'priority', 'add_tag_ids', 'due_by', 'contract_id'] }, addTagIds: [1] },
    ]);
  });

  it.each<[object, string]>([
    [{}, '#/executor/fields too_few_items'],
    [{ status: 'gone' }, '#/executor/fields/status not_allowed'],
    [{ id: 1 }, '#/executor/fields/id read_only_field'],
    [{ version: 1 }, '#/executor/fields/version read_only_field'],
    [{ createdAt: '2026-01-01' }, '#/executor/fields/createdAt read_only_field'],
    [{ refreshMode: 'full' }, '#/executor/fields/refreshMode unknown_field'],
    [{ shell: 'x' }, '#/executor/fields/shell unknown_field'],
    [{ subject: 'a\nBcc: x' }, '#/executor/fields/subject invalid_format'],
    [{ subject: 'x'.repeat(999) }, '#/executor/fields/subject too_long'],
    [{ tagIds: [1, 1] }, '#/executor/fields/tagIds duplicate_item'],
    [{ status: null }, '#/executor/fields/status null_not_allowed'],
  ])('cannot be %j', async (fields, refusal) => {
    expect(violationsOf(await withFields(fields))).toEqual([refusal]);
    expect(intents.model.checked).toEqual([]);
  });

  // guarantee: I28
  it('are refused for what the tickets service finds', async () => {
    intents.model.violations = [{ pointer: '#/addTagIds/0', code: 'unknown_tag', detail: 'tag 1 does not exist' }];
    expect(violationsOf(await withFields({ addTagIds: [1] }))).toEqual(['#/executor/fields/addTagIds/0 unknown_tag']);
  });
});

test('a tag or a template that does not exist is refused, and is not looked for when it is not given', async () => {
  intents.model.tagIds.add(1);
  const detection = (tagIds: number[]) => intents.manage('POST', '/aiAgent', { name: 'A', detection: { tagIds } });
  expect(violationsOf(await detection([1, 2]))).toEqual(['#/detection/tagIds/1 unknown_tag']);
  const { json } = await detection([1]);
  expect(violationsOf(await post({ type: 'reply', templateId: 3 }))).toEqual([
    '#/executor/templateId unknown_template',
  ]);
  intents.model.isUnavailable = true;
  expect((await intents.manage('PATCH', `/aiAgent/${json.id}`, { name: 'B' })).status).toBe(200);
});

test('nothing is saved while a service that must be asked is unavailable', async () => {
  intents.model.isUnavailable = true;
  const given = [
    { detection: { tagIds: [1] } },
    { executor: { type: 'reply', templateId: 1 } },
    { executor: { type: 'updateTicket', fields: { status: 'closed' } } },
  ];
  for (const fields of given) {
    const refused = await intents.manage('POST', '/aiAgent', { name: 'A', ...fields });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  }
  expect(await storedAgents()).toEqual([]);
});

test('a service sees which AI agents exist, and an agent of people does not', async () => {
  const { json } = await post({ type: 'none' });
  const ids = [json.id, json.id + 1];
  const knowledge = await intents.openClient(AiAgentService, { service: 'knowledge' });
  expect((await knowledge.findAiAgents({ ids })).ids).toEqual([json.id]);
  const person = await intents.openClient(AiAgentService, { caller: { roleId: 1 } });
  await expect(person.findAiAgents({ ids })).rejects.toMatchObject({
    rawMessage: 'Only certain services may call this.',
  });
});

// guarantee: F16
test('the template that is deleted leaves the AI agents that name it, and those that are being saved', async () => {
  intents.model.templateIds = new Set([3, 4]);
  const client = await intents.openClient(AiAgentService, { service: 'templates' });
  const first = await post({ type: 'reply', templateId: 3 });
  const other = await post({ type: 'reply', templateId: 4 });
  intents.model.beforeResponse = async () => {
    await client.dropTemplate({ templateId: 3 });
  };
  const late = await post({ type: 'reply', templateId: 3 });
  expect(late.json.executor).toMatchObject({ type: 'reply', templateId: null });
  const readTemplate = async (id: number) => (await intents.manage('GET', `/aiAgent/${id}`)).json.executor.templateId;
  expect(await readTemplate(first.json.id)).toBeNull();
  expect(await readTemplate(other.json.id)).toBe(4);
  await client.dropTemplate({ templateId: 3 });
});
