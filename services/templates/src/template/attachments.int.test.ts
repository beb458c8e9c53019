import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { golden } from '@ticketing/testkit/golden.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { violationsOf } from '@ticketing/testkit/violations-of.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { author, startHarness, type TemplatesHarness } from '../../test/harness.ts';

let harness: TemplatesHarness;

beforeAll(async () => {
  harness = await startHarness({ variables: { OUTBOUND_ALLOW: '127.0.0.1' } });
});
afterEach(() => harness.empty());
afterAll(() => harness.stop());

const MiB = 1024 * 1024;
/** A picture of 1 by 1 pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const file = (bytes: Uint8Array, name = 'a.bin') => ({ name, base64: Buffer.from(bytes).toString('base64') });
const zeros = (bytes: number) => file(Buffer.alloc(bytes));
const post = (attachments: object[], headers: Record<string, string> = {}) =>
  harness.write('POST', '/template', { message: 'Hello', attachments }, { caller: author, headers });
const create = (attachments: object[]) => harness.create('/template', { message: 'Hello', attachments });
const patch = (id: number, body: object) => harness.write('PATCH', `/template/${id}`, body);
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  harness.request(method, path, { headers });
const listNames = ({ attachments }: { attachments: { name: string }[] }) => attachments.map(({ name }) => name);
/** How many documents the files of all templates have. */
const storedDocuments = () =>
  Promise.all(['fileRecords', 'files.chunks'].map((name) => harness.database.collection(name).countDocuments()));

describe('POST /template with attachments', () => {
  // spec: 11.6, 31.4
  it('lists the files, as GET, the list and rendering do', async () => {
    const created = await create([file(png, 'Preise.PNG'), file(Buffer.from('Grüße'), 'a.html'), { base64: '' }]);
    const attachments = created.attachments.map((one: { id: string }, index: number) => {
      expect(one).toMatchObject({ url: `/template/${created.id}/attachment/${one.id}` });
      return { ...one, id: `id${index}`, url: `/template/1/attachment/id${index}` };
    });
    await golden('template-attachments', attachments);
    expect((await get(`/template/${created.id}`)).json).toEqual(created);
    expect((await get('/template')).json.templates).toEqual([created]);
    const rendering = await harness.openClient(RenderingService);
    const variables = new TextEncoder().encode('{}');
    const rendered = await rendering.renderTemplate({ templateId: created.id, variables });
    expect(rendered.attachments.map(({ id, size }) => [id, size])).toEqual(
      created.attachments.map(({ id, size }: { id: string; size: number }) => [id, size]),
    );
  });

  it('fetches files that are given by their url', async () => {
    const server = createServer((_, response) => response.end('fetched')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { attachments } = await create([{ name: 'a.txt', url }]);
    expect((await get(attachments[0].url)).text).toBe('fetched');
    server.close();
    const refused = await post([zeros(1), { name: 'a.txt', url: 'http://192.168.0.1/' }]);
    expect([refused.status, violationsOf(refused)]).toEqual([400, ['#/attachments/1/url invalid_attachment']]);
    expect(await storedDocuments()).toEqual([1, 1]);
  });

  it.each<[string, () => object[], string?]>([
    ['20 files', () => Array.from({ length: 20 }, () => zeros(1))],
    ['21 files', () => Array.from({ length: 21 }, () => zeros(1)), '#/attachments too_many_attachments'],
    // guarantee: I16
  ])('has the limit of a message: %s', async (_, attachments, violation) => {
    const response = await post(attachments());
    expect(response.status).toBe(violation === undefined ? 201 : 413);
    if (violation !== undefined) expect(violationsOf(response)).toEqual([violation]);
    expect((await storedDocuments())[0]).toBe(violation === undefined ? attachments().length : 0);
  });

  it.each<[string, object, string]>([
    ['a file without content', { name: 'a' }, '#/attachments/1 invalid_attachment'],
    ['what is no base64', { base64: 'x' }, '#/attachments/1/base64 invalid_attachment'],
    ['an id', { id: 'aaaaaaaa' }, '#/attachments/1/id unknown_field'],
    ['a name with a line break', { name: 'a\nb', base64: '' }, '#/attachments/1/name invalid_format'],
  ])('refuses %s, and leaves nothing', async (_, attachment, violation) => {
    const response = await post([zeros(1), attachment]);
    expect([response.status, violationsOf(response)]).toEqual([400, [violation]]);
    expect(await storedDocuments()).toEqual([0, 0]);
  });

  it('leaves nothing if another part of the request is invalid', async () => {
    const response = await harness.write('POST', '/template', { message: '{{', attachments: [zeros(1)] });
    expect(response.status).toBe(400);
    expect(await storedDocuments()).toEqual([0, 0]);
  });

  it('twice with one Idempotency-Key stores the files once', async () => {
    const headers = { 'idempotency-key': 'files' };
    const [first, second] = [await post([zeros(1)], headers), await post([zeros(1)], headers)];
    expect([second.headers.get('idempotency-replayed'), second.json]).toEqual(['true', first.json]);
    expect(await storedDocuments()).toEqual([1, 1]);
  });
});

describe('PATCH /template/{id} with attachments', () => {
  it('keeps the files that it names by id, in its order, adds others, and removes the rest', async () => {
    const { id, attachments } = await create([file(png, 'a'), file(png, 'b'), file(png, 'c')]);
    const given = [{ id: attachments[2].id }, file(Buffer.from('neu'), 'd'), { id: attachments[0].id }];
    const { template } = (await patch(id, { attachments: given })).json;
    expect(listNames(template)).toEqual(['c', 'd', 'a']);
    expect((await get(`/template/${id}`)).json).toEqual(template);
    expect((await get(template.attachments[1].url)).text).toBe('neu');
    expect((await get(attachments[0].url)).bytes.equals(png)).toBe(true);
    expect((await get(attachments[1].url)).status).toBe(404);
    expect(await storedDocuments()).toEqual([3, 3]);
    expect(listNames((await patch(id, { message: 'x' })).json.template)).toEqual(['c', 'd', 'a']);
    expect((await patch(id, { attachments: [] })).json.template.attachments).toEqual([]);
    expect(await storedDocuments()).toEqual([0, 0]);
  });

  it.each<[string, (ids: string[]) => object[], number, string]>([
    ['an id that it does not list', () => [{ id: 'aaaaaaaa' }], 400, '#/attachments/0/id unknown_attachment'],
    ['an id twice', ([a]) => [{ id: a }, { id: a }], 400, '#/attachments/1 invalid_attachment'],
    ['an id and a content', ([a]) => [{ id: a, base64: '' }], 400, '#/attachments/0 invalid_attachment'],
    [
      '21 files',
      ([a]) => [{ id: a }, ...Array.from({ length: 20 }, () => zeros(1))],
      413,
      '#/attachments too_many_attachments',
    ],
  ])('refuses %s, and changes nothing', async (_, attachments, status, violation) => {
    const created = await create([zeros(1), zeros(1)]);
    const before = await storedDocuments();
    const given = attachments(created.attachments.map(({ id }: { id: string }) => id));
    const response = await patch(created.id, { message: 'x', attachments: [...given, zeros(1)].slice(0, 21) });
    expect([response.status, violationsOf(response)]).toEqual([status, [violation]]);
    expect((await get(`/template/${created.id}`)).json).toEqual(created);
    expect(await storedDocuments()).toEqual(before);
  });

  it('by parallel requests leaves the files that the last one lists', async () => {
    const { id } = await create([zeros(1)]);
    const changes = ['a', 'b', 'c', 'd'].map((name) => patch(id, { attachments: [file(png, name)] }));
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { attachments } = (await get(`/template/${id}`)).json;
    expect(attachments).toHaveLength(1);
    expect((await get(attachments[0].url)).bytes.equals(png)).toBe(true);
    expect(await storedDocuments()).toEqual([1, 1]);
  });

  // guarantee: I16
  it('while the template is deleted leaves nothing', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await create([zeros(1)]);
      const [changed, deleted] = await Promise.all([
        patch(id, { attachments: [file(png)] }),
        harness.write('DELETE', `/template/${id}`),
      ]);
      expect([200, 404, 409]).toContain(changed.status);
      expect(deleted.status).toBe(200);
      expect(await storedDocuments()).toEqual([0, 0]);
    }
  });
});

describe('GET /template/{id}/attachment/{attachmentId}', () => {
  it('sends the file as one that is saved and never shown, whole and in ranges', async () => {
    const bytes = seededBytes(2 * MiB + 17);
    const { attachments } = await create([file(bytes, 'Größe.html')]);
    const [{ id, url }] = attachments;
    const whole = await get(url);
    expect([whole.status, whole.bytes.equals(bytes)]).toEqual([200, true]);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="Gr??e.html"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.html`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'accept-ranges': 'bytes',
      etag: `"${id}"`,
    });
    const part = await get(url, { range: `bytes=${MiB - 1}-${MiB}` });
    expect([part.status, part.bytes.equals(bytes.subarray(MiB - 1, MiB + 1))]).toEqual([206, true]);
    expect(part.headers.get('content-range')).toBe(`bytes ${MiB - 1}-${MiB}/${bytes.length}`);
    const beyond = await get(url, { range: `bytes=${bytes.length}-` });
    expect([beyond.status, beyond.json.code]).toEqual([416, 'range_not_satisfiable']);
    const head = await get(url, {}, 'HEAD');
    expect([head.status, head.headers.get('content-length'), head.bytes.length]).toEqual([200, `${bytes.length}`, 0]);
    expect((await get(url, { 'if-none-match': `"${id}"` })).status).toBe(304);
  });

  // guarantee: C7
  it('is 404 under another template, for another file, and after the template is deleted', async () => {
    const [one, other] = [await create([file(png)]), await create([file(png)])];
    const missing = async (path: string) => {
      const { status, json } = await get(path);
      return [status, json.code, json.title];
    };
    const notFound = [404, 'attachment_not_found', 'Template or attachment not found'];
    expect(await missing(one.attachments[0].url.replace(`${one.id}`, `${other.id}`))).toEqual(notFound);
    expect(await missing(one.attachments[0].url.replace(`${one.id}`, '99999'))).toEqual(notFound);
    await harness.write('DELETE', `/template/${one.id}`);
    expect(await missing(one.attachments[0].url)).toEqual(notFound);
    expect((await get(other.attachments[0].url)).bytes.equals(png)).toBe(true);
    expect(await storedDocuments()).toEqual([1, 1]);
  });

  it('is sent to services in pieces', async () => {
    const bytes = seededBytes(2 * MiB + 17);
    const { id, attachments } = await create([file(bytes)]);
    const client = await harness.openClient(TemplateService);
    const pieces: Uint8Array[] = [];
    for await (const { body } of client.getTemplateAttachment({ id, attachmentId: attachments[0].id })) {
      if (body) pieces.push(body.data);
    }
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(MiB);
  });
});
