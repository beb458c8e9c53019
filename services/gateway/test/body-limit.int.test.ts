import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayHarness, startHarness } from './harness.ts';
import { sendRaw } from './http-client.ts';
import { lastOf } from './stub-service.ts';

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
  ['PUT', '/ticket/of/no/contract', 2 * mebibyte],
  ['POST', '/ticket', 40 * mebibyte],
  ['POST', '/%74icket', 40 * mebibyte],
  ['PATCH', '/ticket/1/conversation/2', 40 * mebibyte],
];

describe.each(limits)('a body of %s %s', (verb, path, limit) => {
  it('passes at the limit', async () => {
    const answer = await harness.call(verb, path, { body: Buffer.alloc(limit) });
    expect(answer.status).toBe(200);
    expect(lastOf(harness.stub).body.length).toBe(limit);
  });

  it('is refused one byte above it, before it is sent', async () => {
    const before = harness.stub.received.length;
    const answer = await sendRaw(
      harness.gateway.ports.http,
      `${verb} ${path} HTTP/1.1\r\nhost: a\r\nauthorization: ${harness.bearer}\r\ncontent-length: ${limit + 1}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/\r\nconnection: close\r\n/);
    expect(answer).toContain('"code":"body_too_large"');
    expect(harness.stub.received.length).toBe(before);
  });
});

describe('a body that does not say its length', () => {
  it('passes at the limit', async () => {
    const body = Buffer.alloc(2 * mebibyte);
    expect((await harness.call('POST', '/ticket/search', { body, chunkBytes: 65_521 })).status).toBe(200);
    expect(lastOf(harness.stub).body.length).toBe(body.length);
  });

  it('is refused one byte above it, and the service does not get it', async () => {
    const before = harness.stub.received.length;
    const body = Buffer.alloc(2 * mebibyte + 1);
    const answer = await harness.call('POST', '/ticket/search', { body, chunkBytes: 65_521 });
    expect(answer.json).toMatchObject({ status: 413, code: 'body_too_large' });
    expect(answer.headers.connection).toBe('close');
    expect(harness.stub.received.length).toBe(before);
  });
});

it('lets go of a body that nobody wants, and answers the next request on the connection', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const big = { body: Buffer.alloc(mebibyte), agent };
  expect((await harness.callBare('POST', '/ticket', big)).status).toBe(401);
  expect((await harness.call('POST', '/nowhere', { ...big, chunkBytes: 100_000 })).status).toBe(404);
  expect((await harness.call('POST', '/auth/session', { ...big, chunkBytes: 100_000 })).status).toBe(200);
  expect((await harness.call('GET', '/ticket/1', { agent })).status).toBe(200);
  agent.destroy();
});

it('answers 413 also while the client is still sending', async () => {
  const answer = await harness.call('POST', '/ticket/search', { body: Buffer.alloc(8 * mebibyte) });
  expect(answer.json).toMatchObject({ code: 'body_too_large' });
});
