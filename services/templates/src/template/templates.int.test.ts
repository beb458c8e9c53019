import { golden } from '@ticketing/testkit/golden.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { author, startHarness, type TemplatesHarness } from '../../test/harness.ts';

let harness: TemplatesHarness;

beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => harness.empty());
afterAll(() => harness.stop());

const create = (body: object) => harness.create('/template', body);
const wrap = (template: string, name = 'Usual') => harness.create('/emailTemplate', { name, template });
const post = (body: object) => harness.write('POST', '/template', body);
const patch = (id: number, body: object) => harness.write('PATCH', `/template/${id}`, body);
const get = (path: string) => harness.request('GET', path);
const pointerAndCode = async (response: ReturnType<typeof post>) => {
  const { status, json } = await response;
  return { status, code: json.code, errors: violationsOf(await response) };
};

describe('a response template', () => {
  // spec: 2.7, 11.1, 11.4, 11.8, 31.1, 31.3, 31.5
  it('is created, read, listed, changed and deleted', async () => {
    harness.model.tagIds.add(3);
    harness.model.tickets.set(12, {}).set(15, {});
    const wrapper = await wrap('<p>Hello {{customer.firstname}},</p>%MESSAGE%<p>{{agent.firstName}}</p>');
    const minimal = await post({ message: '<p>Thank you.</p>' });
    expect(minimal.status).toBe(201);
    await golden('template-minimal', { ...minimal.json, id: 1 });
    const full = await create({
      message: '<p>your contract ends on {{formatDateDE contract.endDate}}.</p>',
      description: 'End of contract',
      tagId: 3,
      emailTemplateId: wrapper.id,
      subject: 'Contract {{contract.id}}',
      exampleTicketIds: [15, 12],
    });
    await golden('template-full', { ...full, id: 2, emailTemplateId: 1 });
    expect(full.id).toBeGreaterThan(minimal.json.id);
    const read = await get(`/template/${full.id}`);
    expect([read.status, read.json]).toEqual([200, full]);
    const list = await get('/template');
    await golden('template-list', {
      ...list.json,
      templates: list.json.templates.map((one: object, index: number) => ({
        ...one,
        id: index + 1,
        emailTemplateId: 1,
      })),
    });
    const changed = await patch(full.id, { message: 'Bye', subject: null, exampleTicketIds: [] });
    await golden('template-changed', {
      ...changed.json,
      template: { ...changed.json.template, id: 2, emailTemplateId: 1 },
    });
    expect((await get(`/template/${full.id}`)).json).toEqual(changed.json.template);
    const deleted = await harness.write('DELETE', `/template/${full.id}`);
    expect([deleted.status, deleted.json]).toEqual([200, { success: true }]);
    expect((await create({ message: 'x' })).id).toBeGreaterThan(full.id);
  });

  it.each([
    ['GET', undefined],
    ['PATCH', {}],
    ['DELETE', undefined],
  ])('that does not exist is 404 for %s', async (method, body) => {
    const { status, json } = await harness.write(method, '/template/99999', body);
    expect([status, json.code, json.title]).toEqual([404, 'template_not_found', 'Template not found']);
  });

  it('is dropped by AI agents when it is deleted', async () => {
    const { id } = await create({ message: 'a' });
    expect((await harness.write('DELETE', `/template/${id}`)).status).toBe(200);
    expect(harness.model.droppedByAgents).toEqual([id]);
    expect(await harness.database.collection('templateDeletions').countDocuments()).toBe(0);
  });

  it('keeps what a PATCH leaves out, clears what is null, and sets what is given', async () => {
    harness.model.tagIds.add(3);
    const wrapper = await wrap('[%MESSAGE%]');
    const given = { message: 'a', description: 'b', tagId: 3, emailTemplateId: wrapper.id, subject: 'c' };
    const { id, ...before } = await create(given);
    expect((await patch(id, {})).json).toEqual({ success: true, template: { id, ...before } });
    const cleared = await patch(id, { tagId: null, emailTemplateId: null, subject: null });
    const unset = { tagId: null, emailTemplateId: null, subject: null, template: '%MESSAGE%', mergedTemplate: 'a' };
    expect(cleared.json.template).toEqual({ id, ...before, ...unset });
    expect((await patch(id, given)).json.template).toEqual({ id, ...before });
    const body = { message: null, description: null, exampleTicketIds: null };
    expect(await pointerAndCode(patch(id, body))).toEqual({
      status: 400,
      code: 'null_not_allowed',
      errors: ['#/description null_not_allowed', '#/exampleTicketIds null_not_allowed', '#/message null_not_allowed'],
    });
  });

  it('has fields that cannot be written', async () => {
    const { id } = await create({ message: 'a' });
    const readOnly = { mergedTemplate: 'x', template: 'x', success: true };
    const errors = ['#/mergedTemplate', '#/success', '#/template'].map((pointer) => `${pointer} read_only_field`);
    expect((await pointerAndCode(patch(id, { ...readOnly, id: 5 }))).errors).toEqual(
      [...errors, '#/id read_only_field'].sort(),
    );
    expect((await pointerAndCode(post({ message: 'a', ...readOnly }))).errors).toEqual(errors);
    expect((await pointerAndCode(post({ message: 'a', name: 'x' }))).errors).toEqual(['#/name unknown_field']);
  });

  it.each([
    ['message', 'x'.repeat(1024 * 1024), 'too_long'],
    ['description', 'x'.repeat(10_000), 'too_long'],
    ['subject', 'x'.repeat(998), 'too_long'],
  ])('has a limit of %s', async (field, atLimit, code) => {
    const body = (text: string) => ({ message: 'a', [field]: text });
    expect((await create(body(atLimit)))[field]).toBe(atLimit);
    expect((await pointerAndCode(post(body(`${atLimit}x`)))).errors).toEqual([`#/${field} ${code}`]);
  });

  // spec: 31.3
  it('names at most 100 tickets, each once', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => 2 * index + 1);
    for (const id of ids) harness.model.tickets.set(id, {});
    const exampleTicketIds = ids.slice(1);
    expect((await create({ message: 'a', exampleTicketIds })).exampleTicketIds).toEqual(exampleTicketIds);
    // Ids that are near each other are looked up together.
    expect(harness.model.versionPages).toBeLessThanOrEqual(2);
    const refused = async (given: number[]) =>
      (await pointerAndCode(post({ message: 'a', exampleTicketIds: given }))).errors;
    expect(await refused(ids)).toEqual(['#/exampleTicketIds too_many_items']);
    expect(await refused([1, 1])).toEqual(['#/exampleTicketIds duplicate_item']);
    expect(await refused([0])).toEqual(['#/exampleTicketIds/0 out_of_range']);
  });

  it('refuses what does not exist, and what is wrong with its texts, all at once', async () => {
    harness.model.tickets.set(1, {}).set(500, {});
    harness.model.deletedIds.add(7);
    const body = {
      message: '{{exec 1}}',
      subject: '{{#if a}}',
      tagId: 9,
      emailTemplateId: 8,
      exampleTicketIds: [1, 7, 500, 501, 2],
    };
    const errors = [
      '#/emailTemplateId unknown_template',
      '#/exampleTicketIds/1 unknown_ticket',
      '#/exampleTicketIds/3 unknown_ticket',
      '#/exampleTicketIds/4 unknown_ticket',
      '#/message unknown_helper',
      '#/subject template_syntax',
      '#/tagId unknown_tag',
    ];
    expect((await pointerAndCode(post(body))).errors).toEqual(errors);
    const { id } = await create({ message: 'a' });
    expect((await pointerAndCode(patch(id, body))).errors).toEqual(errors);
    expect((await get(`/template/${id}`)).json.message).toBe('a');
    expect((await get('/template')).json.total).toBe(1);
  });

  it('is not changed while the tickets service is unavailable, except for what needs no ticket or tag', async () => {
    const { id } = await create({ message: 'a' });
    harness.model.isUnavailable = true;
    for (const response of [await post({ message: 'b', tagId: 1 }), await patch(id, { exampleTicketIds: [1] })]) {
      expect([response.status, response.json.code]).toEqual([503, 'dependency_unavailable']);
    }
    expect((await patch(id, { message: 'b' })).status).toBe(200);
    expect((await get('/template')).json.total).toBe(1);
  });

  it('is changed by parallel requests, none of which is lost', async () => {
    const { id } = await create({ message: 'a' });
    const changes = [{ message: 'b' }, { description: 'c' }, { subject: 'd' }, { exampleTicketIds: [] }];
    const responses = await Promise.all(changes.map((change) => patch(id, change)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await get(`/template/${id}`)).json).toMatchObject({ message: 'b', description: 'c', subject: 'd' });
  });
});

describe('the list', () => {
  // spec: 11.2
  it('is filtered by a part of a text, without regard to case, and by a tag', async () => {
    harness.model.tagIds.add(3).add(4);
    await create({ message: 'Über 50%.', tagId: 3 });
    await create({ message: 'b', description: 'ÄRGER (a.c)', tagId: 4 });
    await create({ message: 'c', subject: 'Über uns', tagId: 3 });
    const found = async (query: string) => {
      const { json } = await get(`/template?${query}`);
      expect(json.total).toBe(json.templates.length);
      return json.templates.map(({ message }: { message: string }) => message);
    };
    expect(await found('q=über')).toEqual(['Über 50%.', 'c']);
    expect(await found('q=ärger')).toEqual(['b']);
    expect(await found(`q=${encodeURIComponent('(A.C)')}`)).toEqual(['b']);
    expect(await found(`q=${encodeURIComponent('50%')}`)).toEqual(['Über 50%.']);
    expect(await found(`q=${encodeURIComponent('.*')}`)).toEqual([]);
    expect(await found('q=über&tagId=3')).toEqual(['Über 50%.', 'c']);
    expect(await found('tagId=4')).toEqual(['b']);
    expect(await found('tagId=5')).toEqual([]);
    expect(await found('q=')).toHaveLength(3);
    expect((await get(`/template?q=${'x'.repeat(320)}`)).status).toBe(200);
    expect(violationsOf(await get(`/template?q=${'x'.repeat(321)}`))).toEqual(['#/query/q too_long']);
  });

  it('has pages', async () => {
    for (const message of ['a', 'b', 'c']) await create({ message });
    const { json } = await get('/template?limit=1&offset=1');
    expect(json).toMatchObject({ success: true, total: 3, offset: 1, limit: 1 });
    expect(json.templates.map(({ message }: { message: string }) => message)).toEqual(['b']);
    expect((await get('/template?offset=3')).json.templates).toEqual([]);
  });
});

describe('the e-mail template around a template', () => {
  // spec: 11.3, 11.7
  it('is its own, else the generic one, else none; a change of it shows at once', async () => {
    const [own, generic] = [await wrap('own %MESSAGE%', 'Own'), await wrap('generic $& %MESSAGE% $1', 'Generic')];
    const first = await create({ message: "$&$'", emailTemplateId: own.id });
    const second = await create({ message: 'b' });
    const shown = async (id: number) => {
      const { template, mergedTemplate } = (await get(`/template/${id}`)).json;
      return [template, mergedTemplate];
    };
    expect(await shown(first.id)).toEqual(['own %MESSAGE%', "own $&$'"]);
    expect(await shown(second.id)).toEqual(['%MESSAGE%', 'b']);
    harness.settings.genericTemplateId = generic.id;
    expect(await shown(first.id)).toEqual(['own %MESSAGE%', "own $&$'"]);
    expect(await shown(second.id)).toEqual(['generic $& %MESSAGE% $1', 'generic $& b $1']);
    await harness.write('PATCH', `/emailTemplate/${own.id}`, { template: 'new %MESSAGE%' });
    expect(await shown(first.id)).toEqual(['new %MESSAGE%', "new $&$'"]);
    const { templates } = (await get('/template')).json;
    expect(templates.map(({ template }: { template: string }) => template)).toEqual([
      'new %MESSAGE%',
      'generic $& %MESSAGE% $1',
    ]);
  });

  it('reads as unset when it was deleted, and is dropped', async () => {
    const own = await wrap('own %MESSAGE%');
    const { id } = await create({ message: 'a', emailTemplateId: own.id });
    await harness.write('DELETE', `/emailTemplate/${own.id}`);
    const templates = harness.database.collection<{ _id: number; emailTemplateId?: number }>('templates');
    const stored = () => templates.findOne({ _id: id });
    expect((await stored())?.emailTemplateId).toBeNull();
    const unset = { emailTemplateId: null, template: '%MESSAGE%', mergedTemplate: 'a' };
    // As if it had been stored while the e-mail template was deleted.
    await templates.updateOne({ _id: id }, { $set: { emailTemplateId: own.id } });
    expect((await get(`/template/${id}`)).json).toMatchObject(unset);
    expect((await get('/template')).json.templates).toMatchObject([unset]);
    expect((await patch(id, { description: 'x' })).json.template).toMatchObject(unset);
    expect((await stored())?.emailTemplateId).toBeNull();
  });
});

describe('an Idempotency-Key', () => {
  it('makes a creation happen once', async () => {
    const headers = { 'idempotency-key': 'create' };
    const send = (message: string) => harness.write('POST', '/template', { message }, { caller: author, headers });
    const first = await send('a');
    const again = await send('a');
    expect([again.headers.get('idempotency-replayed'), again.json]).toEqual(['true', first.json]);
    expect((await send('b')).json.code).toBe('idempotency_key_reused');
    expect((await get('/template')).json.total).toBe(1);
  });
});
