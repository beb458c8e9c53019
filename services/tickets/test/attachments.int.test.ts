import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHarness, type TicketsHarness } from './harness.ts';

let tickets: TicketsHarness;

beforeAll(async () => {
  tickets = await startHarness({ variables: { OUTBOUND_ALLOW: '127.0.0.1' } });
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

describe('POST /ticket with attachments', () => {
  test('lists the files with what their content says', async () => {
    const { status, json } = await post({
      attachments: [file(png, 'Bild.PNG'), file(pdf, 'rechnung'), { base64: '' }],
    });
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
        width: 1,
        height: 1,
        createdAt: json.createdAt,
      },
      expect.objectContaining({ name: 'rechnung', contentType: 'application/pdf', fileEnding: 'pdf', width: null }),
      expect.objectContaining({ name: 'attachment', contentType: 'application/octet-stream', size: 0 }),
    ]);
    expect((await get(`/ticket/${json.id}`)).json.attachments).toEqual(json.attachments);
    for (const [index, bytes] of [png, pdf, Buffer.alloc(0)].entries()) {
      const read = await get(json.attachments[index].url);
      expect(read.status).toBe(200);
      expect(read.bytes.equals(bytes)).toBe(true);
    }
  });

  test('returns the bytes of a large file', async () => {
    const bytes = randomBytes(3 * MiB + 17);
    const { json } = await post({ attachments: [file(bytes)] });
    const [{ url }] = json.attachments;
    expect((await get(url)).bytes.equals(bytes)).toBe(true);
    const part = await get(url, { range: `bytes=${MiB - 3}-${2 * MiB + 4}` });
    expect(part.status).toBe(206);
    expect(part.bytes.equals(bytes.subarray(MiB - 3, 2 * MiB + 5))).toBe(true);
    expect(part.headers.get('content-range')).toBe(`bytes ${MiB - 3}-${2 * MiB + 4}/${bytes.length}`);
    expect((await remove(url)).json).toEqual({ success: true });
    expect((await get(url)).json.code).toBe('attachment_not_found');
    expect((await get(`/ticket/${json.id}`)).json).toMatchObject({ attachments: [], version: 2 });
  });
});
