import { golden } from '@ticketing/testkit/golden.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startHarness, type TemplatesHarness } from '../../test/harness.ts';

let harness: TemplatesHarness;

beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => harness.empty());
afterAll(() => harness.stop());

const template = '<p>Hello,</p>%MESSAGE%';
const path = '/emailTemplate';
const create = (name: string) => harness.create(path, { name, template });
const post = (body: object) => harness.write('POST', path, body);
const patch = (id: number, body: object) => harness.write('PATCH', `${path}/${id}`, body);
const get = (query = '') => harness.request('GET', path + query);

describe('an e-mail template', () => {
  it('is created, read, listed, changed and deleted', async () => {
    const created = await post({ name: '  Usual ', template });
    expect(created.status).toBe(201);
    await golden('email-template', { ...created.json, id: 1 });
    const { id } = created.json;
    expect((await get(`/${id}`)).json).toEqual(created.json);
    const other = await create('Other');
    const list = await get('?limit=1&offset=1');
    await golden('email-template-list', { ...list.json, emailTemplates: [{ ...list.json.emailTemplates[0], id: 2 }] });
    const changed = await patch(id, { template: 'x %MESSAGE%' });
    await golden('email-template-changed', {
      ...changed.json,
      emailTemplate: { ...changed.json.emailTemplate, id: 1 },
    });
    expect((await patch(id, {})).json).toEqual(changed.json);
    const deleted = await harness.write('DELETE', `${path}/${id}`);
    expect([deleted.status, deleted.json]).toEqual([200, { success: true }]);
    expect((await create('New')).id).toBeGreaterThan(other.id);
  });

  it.each([
    ['GET', undefined],
    ['PATCH', {}],
    ['DELETE', undefined],
  ])('that does not exist is 404 for %s', async (method, body) => {
    const { status, json } = await harness.write(method, `${path}/99999`, body);
    expect([status, json.code]).toEqual([404, 'email_template_not_found']);
  });

  it('has a name that no other has, whatever the case, also when they are created or renamed at the same time', async () => {
    const { id } = await create('Straße Ä');
    for (const name of ['straße ä', ' STRAßE Ä ', 'Straße A\u0308']) {
      const { status, json } = await post({ name, template });
      expect([status, json.code], name).toEqual([409, 'duplicate_email_template']);
    }
    expect((await patch(id, { name: 'STRAßE Ä' })).json.emailTemplate.name).toBe('STRAßE Ä');
    const parallel = await Promise.all(
      Array.from({ length: 8 }, (_, at) => post({ name: at % 2 ? 'new' : 'NEW', template })),
    );
    expect(parallel.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    const renamed = await Promise.all([patch(id, { name: 'New' }), patch(id, { name: 'Newer' })]);
    expect(renamed.map(({ status }) => status)).toEqual([409, 200]);
    expect((await get()).json.total).toBe(2);
  });

  it.each([
    ['#/name required', { template }],
    ['#/template required', { name: 'a' }],
    ['#/name too_short', { name: '', template }],
    ['#/name too_short', { name: ' \t', template }],
    ['#/name too_long', { name: 'x'.repeat(321), template }],
    ['#/template too_long', { name: 'a', template: `${'x'.repeat(1024 * 1024 - 8)}%MESSAGE%` }],
    ['#/template message_placeholder', { name: 'a', template: 'x' }],
    ['#/template template_syntax', { name: 'a', template: '{{#if a}}%MESSAGE%' }],
    ['#/id read_only_field', { name: 'a', template, id: 1 }],
    ['#/message unknown_field', { name: 'a', template, message: 'x' }],
  ])('is refused with %s', async (violation, body) => {
    const response = await post(body);
    expect([response.status, violationsOf(response)]).toEqual([400, [violation]]);
  });

  it('is as long as its limits', async () => {
    // In JSON each of these characters is two.
    const text = `${'"'.repeat(1024 * 1024 - 9)}%MESSAGE%`;
    const { id } = await harness.create(path, { name: 'x'.repeat(320), template: text });
    expect((await get(`/${id}`)).json.template).toBe(text);
  });

  it('is not changed to something that it could not be created with', async () => {
    const { id } = await create('a');
    for (const [violation, body] of [
      ['#/name too_short', { name: ' ' }],
      ['#/name null_not_allowed', { name: null }],
      ['#/template null_not_allowed', { template: null }],
      ['#/template message_placeholder', { template: '{{#if a}}%MESSAGE%{{/if}}' }],
      ['#/id read_only_field', { id: 1 }],
    ] as const) {
      const response = await patch(id, body);
      expect([response.status, violationsOf(response)]).toEqual([400, [violation]]);
    }
    expect((await get(`/${id}`)).json).toEqual({ id, name: 'a', template });
  });

  it('is dropped by settings before it is deleted, and stays if that is not possible', async () => {
    const { id } = await create('a');
    harness.model.isUnavailable = true;
    const { status, json } = await harness.write('DELETE', `${path}/${id}`);
    expect([status, json.code]).toEqual([503, 'dependency_unavailable']);
    expect((await get(`/${id}`)).status).toBe(200);
    harness.model.isUnavailable = false;
    expect((await harness.write('DELETE', `${path}/${id}`)).status).toBe(200);
    expect(harness.model.dropped).toEqual([id]);
    expect((await get(`/${id}`)).status).toBe(404);
  });
});

it('an Idempotency-Key makes a creation and a renaming happen once', async () => {
  const headers = { 'idempotency-key': 'create' };
  const send = () => post({ name: 'a', template });
  const sendOnce = () => harness.write('POST', path, { name: 'a', template }, { caller: { roleId: 1 }, headers });
  const first = await sendOnce();
  const again = await sendOnce();
  expect([again.status, again.headers.get('idempotency-replayed'), again.json]).toEqual([201, 'true', first.json]);
  expect((await send()).status).toBe(409);
});
