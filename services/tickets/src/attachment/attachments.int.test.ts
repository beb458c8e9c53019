import { seededBytes } from '@ticketing/testkit/seed.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { mongo } from 'mongoose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../test/harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness();
});
afterAll(() => tickets.stop());

const admin = { roleId: 1 };
const MiB = 1024 * 1024;
/** A picture of 1 by 1 pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const pdf = Buffer.from('%PDF-1.4\n%âãÏÓ\n1 0 obj\n');

const post = (body: object, headers: Record<string, string> = {}) =>
  tickets.request('POST', '/ticket', { body: { channel: 'chat', ...body }, headers });
const base64Of = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const file = (bytes: Uint8Array, name = 'a.bin') => ({ name, base64: base64Of(bytes) });
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  tickets.request(method, path, { headers });
const remove = (path: string, caller: object = admin) => tickets.request('DELETE', path, { caller });
const pointersOf = ({ json }: { json: { errors: { pointer: string; code: string }[] } }) =>
  json.errors.map(({ pointer, code }) => `${pointer} ${code}`);

async function postFile(bytes: Uint8Array, name?: string): Promise<{ id: number; url: string; attachmentId: string }> {
  const { json } = await post({ attachments: [file(bytes, name)] });
  const [{ id: attachmentId, url }] = json.attachments;
  return { id: json.id, url, attachmentId };
}

/** Whether a cursor of the driver reads the contents of files. */
const isOfChunks = (cursor: unknown) =>
  cursor instanceof mongo.AbstractCursor && cursor.namespace.collection === 'files.chunks';

/** How many documents the files of all tickets have. */
async function storedDocuments() {
  const counts = ['fileRecords', 'files.chunks'].map((name) => tickets.database.collection(name).countDocuments());
  return Promise.all(counts);
}

describe('POST /ticket with attachments', () => {
  // spec: 2.3, 16.3, 21.17
  // guarantee: I15
  // asvs: 5.2.2
  test('lists the files with what their content says, not their names', async () => {
    const attachments = [file(png, 'Bild.PNG'), file(pdf, 'rechnung'), file(png, 'a.html'), { base64: '' }];
    const { status, json } = await post({ attachments });
    expect(status).toBe(200);
    expect(json.attachments).toEqual([
      {
        id: expect.stringMatching(/^[a-z0-9]{8}$/),
        name: 'Bild.PNG',
        url: `/ticket/${json.id}/attachment/${json.attachments[0].id}`,
        size: png.length,
        contentType: 'image/png',
        fileEnding: 'png',
        inline: false,
        contentId: null,
        width: 1,
        height: 1,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      },
      expect.objectContaining({ name: 'rechnung', contentType: 'application/pdf', fileEnding: 'pdf', width: null }),
      expect.objectContaining({ name: 'a.html', contentType: 'image/png', fileEnding: 'html' }),
      expect.objectContaining({ name: 'attachment', contentType: 'application/octet-stream', size: 0 }),
    ]);
    expect((await get(`/ticket/${json.id}`)).json.attachments).toEqual(json.attachments);
    for (const [index, bytes] of [png, pdf, png, Buffer.alloc(0)].entries()) {
      const read = await get(json.attachments[index].url);
      expect(read.status).toBe(200);
      expect(read.bytes.equals(bytes)).toBe(true);
    }
  });

  test('names the field in the event, without any value', async () => {
    const { id } = await postFile(png, 'Geheimnis.png');
    const { outbox } = await tickets.documentOf(id);
    expect(outbox[0].changes).toContainEqual({ field: 'attachments' });
    expect(JSON.stringify(outbox)).not.toContain('Geheimnis');
  });

  test('with a known external id adds the files, and changes nothing without any', async () => {
    const externalTicketId = 'mit-dateien';
    const first = await post({ externalTicketId, attachments: [file(png, 'a.png')] });
    const second = await post({ externalTicketId, attachments: [file(pdf, 'b.pdf')] });
    const third = await post({ externalTicketId, attachments: [] });
    expect([first, second, third].map(({ json }) => json.version)).toEqual([1, 2, 2]);
    expect(third.json.attachments.map(({ name }: { name: string }) => name)).toEqual(['a.png', 'b.pdf']);
    for (const { url } of third.json.attachments) expect((await get(url)).status).toBe(200);
  });

  test('has at most 200 files of all requests together', async () => {
    const externalTicketId = 'voll';
    const attachments = Array.from({ length: 20 }, (_, index) => file(Buffer.of(index), `${index}`));
    for (let round = 0; round < 10; round++) expect((await post({ externalTicketId, attachments })).status).toBe(200);
    const before = await storedDocuments();
    const refused = await post({ externalTicketId, attachments: attachments.slice(0, 1) });
    expect([refused.status, pointersOf(refused)]).toEqual([413, ['#/attachments too_many_attachments']]);
    expect(await storedDocuments()).toEqual(before);
  });

  test('twice with one Idempotency-Key stores the files once', async () => {
    const before = await storedDocuments();
    const body = { attachments: [file(png)] };
    const [first, second] = [
      await post(body, { 'idempotency-key': 'k1' }),
      await post(body, { 'idempotency-key': 'k1' }),
    ];
    expect(second.json).toEqual(first.json);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(await storedDocuments()).toEqual(before.map((count) => count + 1));
    const other = await post({ attachments: [file(pdf)] }, { 'idempotency-key': 'k1' });
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused']);
  });
});

describe('attachments are refused, and leave nothing,', () => {
  test.each<[string, object, string]>([
    // spec: 21.17
    ['without content', { name: 'a' }, '#/attachments/1 invalid_attachment'],
    [
      'with both contents',
      { name: 'a', base64: '', url: 'https://example.org/' },
      '#/attachments/1 invalid_attachment',
    ],
    // spec: 21.16
    ['with a url and no name', { url: 'https://example.org/' }, '#/attachments/1/name invalid_attachment'],
    ['with base64 of another alphabet', { base64: '-_-_' }, '#/attachments/1/base64 invalid_attachment'],
    ['with a line break in base64', { base64: 'YWJj\nYWJj' }, '#/attachments/1/base64 invalid_attachment'],
    ['with a private address', { name: 'a', url: 'https://127.0.0.1/' }, '#/attachments/1/url invalid_attachment'],
    ['with http', { name: 'a', url: 'http://example.org/' }, '#/attachments/1/url invalid_attachment'],
    ['with a line break in the name', { name: 'a\nb', base64: '' }, '#/attachments/1/name invalid_format'],
    ['with an unknown field', { name: 'a', base64: '', inline: true }, '#/attachments/1/inline unknown_field'],
  ])('%s', async (_, attachment, expected) => {
    const before = await storedDocuments();
    const response = await post({ attachments: [file(png), attachment] });
    expect([response.status, pointersOf(response)]).toEqual([400, [expected]]);
    expect(await storedDocuments()).toEqual(before);
  });

  test('if another part of the request is invalid', async () => {
    const before = await storedDocuments();
    expect((await post({ attachments: [file(png)], tags: [9999] })).status).toBe(400);
    expect(await storedDocuments()).toEqual(before);
  });

  const zeros = (bytes: number) => ({ name: 'a', base64: Buffer.alloc(bytes).toString('base64') });
  test.each<[string, () => object[], number, string?]>([
    ['a file of 20 MiB', () => [zeros(20 * MiB)], 200],
    ['a file of one byte more', () => [zeros(20 * MiB + 1)], 413, '#/attachments/0 attachment_too_large'],
    ['25 MiB together', () => [zeros(20 * MiB), zeros(5 * MiB)], 200],
    ['one byte more together', () => [zeros(20 * MiB), zeros(5 * MiB + 1)], 413, '#/attachments attachments_too_large'],
    ['20 files', () => Array.from({ length: 20 }, () => zeros(1)), 200],
    ['21 files', () => Array.from({ length: 21 }, () => zeros(1)), 413, '#/attachments too_many_attachments'],
    // guarantee: I16
    // asvs: 5.2.1
  ])('beyond the limits: %s', async (_, attachments, status, expected) => {
    const given = attachments();
    const before = await storedDocuments();
    const response = await post({ attachments: given });
    expect(response.status).toBe(status);
    if (expected === undefined) {
      expect(response.json.attachments).toHaveLength(given.length);
      const last = await get(response.json.attachments.at(-1).url);
      expect(last.bytes.length).toBe(response.json.attachments.at(-1).size);
      return;
    }
    expect(pointersOf(response)).toEqual([expected]);
    expect(await storedDocuments()).toEqual(before);
  });

  // spec: 40.5
  // guarantee: I16
  test('beyond the limits of the RPC API, which are the same', async () => {
    const send = async (attachments: object[]) => {
      const headers = {
        authorization: `Bearer ${await tickets.identity.internalToken('tickets', testCaller())}`,
        'content-type': 'application/json',
      };
      const url = `${tickets.url}/ticketing.tickets.v1.TicketService/CreateTicket`;
      const body = JSON.stringify({ channel: 'CHANNEL_CHAT', attachments });
      const response = await fetch(url, { method: 'POST', headers, body });
      const json = JSON.parse(await response.text());
      return [response.status, json.code, json.message?.split(':')[0]];
    };
    expect(await send([zeros(20 * MiB)])).toEqual([200, undefined, undefined]);
    expect(await send([zeros(20 * MiB + 1)])).toEqual([429, 'resource_exhausted', '#/attachments/0']);
    expect(await send(Array.from({ length: 21 }, () => zeros(0)))).toEqual([
      429,
      'resource_exhausted',
      '#/attachments',
    ]);
    expect(await send([{ base64: 'x' }])).toEqual([400, 'invalid_argument', '#/attachments/0/base64']);
  });
});

describe('GET /ticket/{ticketId}/attachment/{attachmentId}', () => {
  // guarantee: I15
  // asvs: 5.3.1
  test('sends the file as one that is saved and never shown', async () => {
    const { url, attachmentId } = await postFile(Buffer.from('<script>alert(1)</script>'), 'Größe "1".html');
    const { status, headers, text } = await get(url);
    expect([status, text]).toEqual([200, '<script>alert(1)</script>']);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-disposition': `attachment; filename="Gr??e \\"1\\".html"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22.html`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'content-length': '25',
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      etag: `"${attachmentId}"`,
    });
  });

  test('sends the range that is asked for', async () => {
    const bytes = seededBytes(3 * MiB + 17);
    const { url } = await postFile(bytes);
    expect((await get(url)).bytes.equals(bytes)).toBe(true);
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 1],
      [`bytes=${MiB - 1}-${MiB}`, MiB - 1, MiB + 1],
      [`bytes=${MiB - 3}-${2 * MiB + 4}`, MiB - 3, 2 * MiB + 5],
      [`bytes=${3 * MiB + 16}-`, 3 * MiB + 16, 3 * MiB + 17],
      ['bytes=-20', 3 * MiB - 3, 3 * MiB + 17],
    ] as const) {
      const part = await get(url, { range });
      expect(part.status, range).toBe(206);
      expect(part.bytes.equals(bytes.subarray(start, end)), range).toBe(true);
      expect(part.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${bytes.length}`);
      expect(part.headers.get('content-length')).toBe(String(end - start));
    }
    const beyond = await get(url, { range: `bytes=${bytes.length}-` });
    expect([beyond.status, beyond.json.code]).toEqual([416, 'range_not_satisfiable']);
    expect(beyond.headers.get('content-range')).toBe(`bytes */${bytes.length}`);
  });

  test('sends nothing for HEAD, and for a file that the client has', async () => {
    const { url, attachmentId } = await postFile(png);
    const head = await get(url, { range: 'bytes=1-2' }, 'HEAD');
    expect([head.status, head.headers.get('content-length'), head.bytes.length]).toEqual([200, String(png.length), 0]);
    expect(head.headers.get('content-type')).toBe('image/png');
    const same = await get(url, { 'if-none-match': `"${attachmentId}"` });
    expect([same.status, same.bytes.length]).toEqual([304, 0]);
    expect((await get(`${url.slice(0, -1)}?`.replace('?', url.endsWith('0') ? '1' : '0'), {}, 'HEAD')).status).toBe(
      404,
    );
  });

  // spec: 39.2, 39.10
  // guarantee: C7
  // asvs: 8.2.2
  test('is 404 under another ticket, for another file, and after the ticket is deleted', async () => {
    const [one, other] = [await postFile(png), await postFile(png)];
    for (const path of [
      `/ticket/${one.id}/attachment/${other.attachmentId}`,
      `/ticket/${other.id + 1000}/attachment/${one.attachmentId}`,
    ]) {
      for (const response of [await get(path), await remove(path)]) {
        expect([response.status, response.json.code, response.json.title]).toEqual([
          404,
          'attachment_not_found',
          'Ticket or attachment not found',
        ]);
      }
    }
    await tickets.request('DELETE', `/ticket/${one.id}`, { caller: admin });
    expect((await get(one.url)).status).toBe(404);
  });

  test('stops reading when the client goes', async () => {
    const { url } = await postFile(seededBytes(20 * MiB));
    const read = vi.spyOn(mongo.AbstractCursor.prototype, 'next');
    const closed = vi.spyOn(mongo.AbstractCursor.prototype, 'close');
    const chunksRead = () => read.mock.contexts.filter(isOfChunks).length;
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${await tickets.identity.internalToken('tickets', testCaller())}` };
    const response = await fetch(tickets.url + url, { headers, signal: leaving.signal });
    await expect.poll(chunksRead).toBeGreaterThan(0);
    leaving.abort();
    await expect.poll(() => closed.mock.contexts.some(isOfChunks)).toBe(true);
    expect(chunksRead()).toBeLessThan(20);
    await expect(response.arrayBuffer()).rejects.toThrow('This operation was aborted');
    vi.restoreAllMocks();
  });
});

describe('DELETE /ticket/{ticketId}/attachment/{attachmentId}', () => {
  // spec: 26.2, 26.3, 26.5, 26.6, 39.10
  test('removes the entry, the record and the content, by one change with one event', async () => {
    const before = await storedDocuments();
    const { id, url } = await postFile(png);
    expect(await storedDocuments()).toEqual(before.map((count) => count + 1));
    expect((await remove(url, {})).status).toBe(403);
    const caller = { permissions: ['updateTechnicalTicketFields'] };
    expect((await remove(url, caller)).json).toEqual({ success: true });
    expect(await storedDocuments()).toEqual(before);
    expect((await get(`/ticket/${id}`)).json).toMatchObject({ attachments: [], version: 2 });
    const { outbox } = await tickets.documentOf(id);
    expect(outbox.map(({ type }: { type: string }) => type)).toEqual(['ticket.created', 'ticket.updated']);
    expect(outbox[1].changes).toEqual([{ field: 'attachments' }]);
    for (const response of [await get(url), await remove(url)]) expect(response.status).toBe(404);
  });

  test('of two files at once removes both', async () => {
    const { json } = await post({ attachments: [file(png, 'a'), file(pdf, 'b'), file(png, 'c')] });
    const urls: string[] = json.attachments.map(({ url }: { url: string }) => url);
    const responses = await Promise.all(urls.slice(0, 2).map((url) => remove(url)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    const { attachments, version } = (await get(`/ticket/${json.id}`)).json;
    expect([attachments.map(({ name }: { name: string }) => name), version]).toEqual([['c'], 3]);
    expect((await get(urls[2] ?? '')).bytes.equals(png)).toBe(true);
  });
});

describe('a file of a message', () => {
  const reply = async (id: number, body: object) => {
    const content = { message: 'Hallo', type: 'text' };
    return (await tickets.request('POST', `/ticket/${id}/conversation/reply`, { body: { content, ...body } })).json;
  };

  test.each([{ isDraft: true }, { private: true }])(
    // spec: 26.4
    'of %j is downloaded, and deleted without a change of the ticket',
    async (kind) => {
      const before = await storedDocuments();
      const { id } = (await post({})).json;
      const { id: messageId, conversation } = await reply(id, {
        ...kind,
        attachments: [file(png, 'a'), file(pdf, 'b')],
      });
      const { version } = (await get(`/ticket/${id}`)).json;
      const urls: string[] = conversation.attachments.map(({ url }: { url: string }) => url);
      expect((await get(urls[0] ?? '')).bytes.equals(png)).toBe(true);
      expect((await get((urls[0] ?? '').replace(String(id), String(id + 1)))).status).toBe(404);
      expect((await remove(urls[0] ?? '')).status).toBe(200);
      expect((await get(urls[0] ?? '')).status).toBe(404);
      const message = (await get(`/ticket/${id}/conversation/${messageId}`)).json;
      expect(message.attachments.map(({ name }: { name: string }) => name)).toEqual(['b']);
      expect((await get(`/ticket/${id}`)).json.version).toBe(version);
      expect(await storedDocuments()).toEqual(before.map((count) => count + 1));
      await tickets.request('DELETE', `/ticket/${id}`, { caller: admin });
      expect(await storedDocuments()).toEqual(before);
    },
  );
});

// spec: 25.8
test('a deleted ticket leaves nothing of its files', async () => {
  const before = await storedDocuments();
  const { json } = await post({ attachments: [file(seededBytes(2 * MiB)), file(png)] });
  await tickets.request('DELETE', `/ticket/${json.id}`, { caller: admin });
  expect(await storedDocuments()).toEqual(before);
});
