import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { heldRequest } from '@ticketing/testkit/held-request.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayHarness, startHarness } from '../../test/harness.ts';
import { sendRaw } from '../../test/http-client.ts';
import { findLast } from '../../test/stub-service.ts';

const mebibyte = 1024 * 1024;
let harness: GatewayHarness;

beforeAll(async () => {
  harness = await startHarness();
});

afterAll(() => harness.stop());

/** Rows: verb, path, limit in bytes. */
const limits: [verb: string, path: string, limit: number][] = [
  ['POST', '/ticket/search', 2 * mebibyte],
  ['PATCH', '/ticket/1', 2 * mebibyte],
  ['POST', '/ticket', 40 * mebibyte],
  ['POST', '/%74icket', 40 * mebibyte],
  ['PATCH', '/ticket/1/conversation/2', 40 * mebibyte],
];

describe('a body', () => {
  // guarantee: A2
  it.each(limits.filter(([, , limit]) => limit <= 2 * mebibyte))(
    'of %s %s is accepted at the limit',
    async (...row) => {
      const [verb, path, limit] = row;
      expect((await harness.call(verb, path, { body: Buffer.alloc(limit) })).status).toBe(200);
      expect(findLast(harness.stub).body.length).toBe(limit);
    },
  );

  // guarantee: I33
  it.each(limits)('of %s %s is refused one byte above the limit, before it is sent', async (verb, path, limit) => {
    const before = harness.stub.received.length;
    const response = await sendRaw(
      harness.gateway.ports.http,
      `${verb} ${path} HTTP/1.1\r\nhost: a\r\nauthorization: ${harness.bearer}\r\ncontent-length: ${limit + 1}\r\n\r\n`,
    );
    expect(response).toMatch(/^HTTP\/1\.1 413 /);
    expect(response).toMatch(/\r\nconnection: close\r\n/);
    expect(response).toContain('"code":"body_too_large"');
    expect(harness.stub.received.length).toBe(before);
  });
});

it('a body without a route is not forwarded, because the service will refuse the request', async () => {
  const response = await harness.call('PUT', '/ticket/of/no/contract', { body: Buffer.alloc(2 * mebibyte) });
  expect(response.status).toBe(200);
  expect(findLast(harness.stub)).toMatchObject({ method: 'PUT', url: '/ticket/of/no/contract', body: { length: 0 } });
});

describe('a chunked body', () => {
  // guarantee: A2
  it('is accepted at the limit', async () => {
    const body = Buffer.alloc(2 * mebibyte);
    expect((await harness.call('POST', '/ticket/search', { body, chunkBytes: 65_521 })).status).toBe(200);
    expect(findLast(harness.stub).body.length).toBe(body.length);
  });

  it('is refused one byte above the limit, and the service does not receive it', async () => {
    const before = harness.stub.received.length;
    const body = Buffer.alloc(2 * mebibyte + 1);
    const response = await harness.call('POST', '/ticket/search', { body, chunkBytes: 65_521 });
    expect(response.json).toMatchObject({ status: 413, code: 'body_too_large' });
    expect(response.headers.connection).toBe('close');
    expect(harness.stub.received.length).toBe(before);
  });
});

it('discards a body that is not needed, and serves the next request on the connection', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const big = { body: Buffer.alloc(mebibyte), agent };
  expect((await harness.callBare('POST', '/ticket', big)).status).toBe(401);
  expect((await harness.call('POST', '/nowhere', { ...big, chunkBytes: 100_000 })).status).toBe(404);
  expect((await harness.call('POST', '/auth/session', { ...big, chunkBytes: 100_000 })).status).toBe(200);
  expect((await harness.call('GET', '/ticket/1', { agent })).status).toBe(200);
  agent.destroy();
});

it('responds with 413 even while the client is still sending', async () => {
  const response = await harness.call('POST', '/ticket/search', { body: Buffer.alloc(8 * mebibyte) });
  expect(response.json).toMatchObject({ code: 'body_too_large' });
});

describe('the bodies of one caller together', () => {
  it('count with what has arrived of them if they are chunked', async () => {
    const small = { body: Buffer.alloc(71), chunkBytes: 10 };
    const responses = await Promise.all(Array.from({ length: 12 }, () => harness.call('POST', '/ticket', small)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('are accepted up to 128 MiB, and one byte more is refused before it is read, until one of them has ended', async () => {
    const to = {
      port: harness.gateway.ports.http,
      method: 'POST',
      path: '/ticket',
      headers: { authorization: harness.bearer, 'content-type': 'application/json', expect: '100-continue' },
    };
    const before = harness.stub.received.length;
    // The gateway asks for a body that it has accepted.
    const begin = async (bytes: number) => {
      const upload = request({ ...to, agent: false, headers: { ...to.headers, 'content-length': bytes } });
      upload.on('error', () => undefined).flushHeaders();
      await once(upload, 'continue');
      return upload;
    };
    const uploads = await Promise.all([40, 40, 40].map((size) => begin(size * mebibyte)));
    const body = Buffer.alloc(8 * mebibyte);
    const refused = await heldRequest({ ...to, body, heldBytes: 1 });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '1', connection: 'close' } });
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'too_many_at_once' });
    expect(refused.isContinued).toBe(false);
    expect(harness.stub.received.length).toBe(before);
    expect(await heldRequest({ ...to, body })).toMatchObject({ status: 200, isContinued: true });
    uploads.pop()?.destroy();
    const more = Buffer.alloc(body.length + 1);
    await expect.poll(async () => (await heldRequest({ ...to, body: more })).status).toBe(200);
    for (const upload of uploads) upload.destroy();
  });
});
