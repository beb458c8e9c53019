import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayHarness, startHarness } from '../../test/harness.ts';
import { sendRaw } from '../../test/http-client.ts';
import { findLast } from '../../test/stub-service.ts';

let harness: GatewayHarness;

beforeAll(async () => {
  harness = await startHarness();
});

afterAll(() => harness.stop());

describe('the request that a service receives', () => {
  // guarantee: C8
  // asvs: 4.1.3
  it('has the forwarded headers and no others', async () => {
    await harness.call('PATCH', '/ticket/1', {
      body: '{}',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json; charset=utf-8',
        'if-match': '"3"',
        'if-none-match': '"4"',
        'if-range': '"5"',
        range: 'bytes=0-1',
        'idempotency-key': 'k1',
        'last-event-id': 'e1',
        prefer: 'return=minimal',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        cookie: '__Host-ticketing_session=x',
        forwarded: 'for=1.2.3.4',
        'x-forwarded-for': '1.2.3.4',
        'x-forwarded-host': 'evil.example',
        'x-real-ip': '1.2.3.4',
        'x-request-id': 'mine',
        'x-user-id': '1',
        'x-caller': '{"kind":"service"}',
        'x-http-method-override': 'DELETE',
        'accept-encoding': 'gzip',
        origin: 'https://evil.example',
        te: 'trailers',
        'user-agent': 'test',
        'x-identity': 'admin',
        connection: 'keep-alive, authorization, content-type',
      },
    });
    const { host, connection, authorization, traceparent, ...headers } = findLast(harness.stub).headers;
    expect(headers).toEqual({
      accept: 'application/json',
      'content-type': 'application/json; charset=utf-8',
      'content-length': '2',
      'if-match': '"3"',
      'if-none-match': '"4"',
      'if-range': '"5"',
      range: 'bytes=0-1',
      'idempotency-key': 'k1',
      'last-event-id': 'e1',
      prefer: 'return=minimal',
      'x-forwarded-for': '127.0.0.1',
    });
    expect(host).toBe(new URL(harness.stub.url).host);
    expect(connection).toBe('keep-alive');
    expect(traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/);
    expect(authorization).not.toBe(harness.bearer);
  });

  // asvs: 8.3.3, 10.1.1
  it('has an internal token of the gateway for this service, with the caller in it', async () => {
    await harness.call('GET', '/tag');
    const token = findLast(harness.stub).headers.authorization?.replace('Bearer ', '') ?? '';
    const [header, payload] = token.split('.', 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    expect(header).toMatchObject({ alg: 'EdDSA', kid: 'gateway', typ: 'internal+jwt' });
    expect(payload).toMatchObject({ iss: 'gateway', aud: 'tickets', caller: { kind: 'user', profileId: 7 } });
    expect(payload.exp - payload.iat).toBe(60);
  });

  it.each([
    ['/ticket', '/ticket'],
    ['/tag?q=a%20b&q=&x', '/tag?q=a%20b&q=&x'],
    ['/ticket/1/attachment/a%2Fb;v=1//x', '/ticket/1/attachment/a%2Fb;v=1//x'],
    ['/ticket/%00', '/ticket/%00'],
    ['/ticket/', '/ticket/'],
  ])('has the path and query of the client, unchanged: %s', async (sent, received) => {
    expect((await harness.call('GET', sent)).status).toBe(200);
    expect(findLast(harness.stub).url).toBe(received);
  });

  it.each([
    '/ticket/../tag',
    '/ticket/./1',
    '/ticket/%2e%2E/tag',
    '/ticket/..%2ftag',
    '/ticket/..\\tag',
    '/ticket/1#x',
    '/ticket/%',
  ])('is not sent for a path that could be rewritten to another: %s', async (path) => {
    const before = harness.stub.received.length;
    const response = await sendRaw(
      harness.gateway.ports.http,
      `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: ${harness.bearer}\r\n\r\n`,
    );
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toContain('"code":"malformed_request"');
    expect(harness.stub.received.length).toBe(before);
  });

  it.each([
    ['broken JSON', Buffer.from('{"a": ')],
    ['latin1', Buffer.from('{"name":"Müller"}', 'latin1')],
    ['bytes of all kinds', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
    ['nothing', Buffer.alloc(0)],
  ])('has the body of the client, byte for byte: %s', async (_, body) => {
    const headers = { 'content-type': 'application/json' };
    await harness.call('POST', '/ticket', { body, headers });
    expect(findLast(harness.stub).body).toEqual(body);
    await harness.call('POST', '/ticket', { body, headers, chunkBytes: 7 });
    expect(findLast(harness.stub).body).toEqual(body);
  });

  it('has the body even without a content type, and with DELETE', async () => {
    await harness.call('POST', '/ticket', { body: 'x' });
    expect(findLast(harness.stub)).toMatchObject({ body: Buffer.from('x') });
    await harness.call('DELETE', '/ticket/1', { body: '{}', headers: { 'content-type': 'application/json' } });
    expect(findLast(harness.stub)).toMatchObject({ method: 'DELETE', body: Buffer.from('{}') });
  });

  it('has no body with GET', async () => {
    await harness.call('GET', '/ticket/1', { body: 'hello', headers: { 'content-type': 'text/plain' } });
    const { headers, body } = findLast(harness.stub);
    expect(body.length).toBe(0);
    expect(headers['content-type']).toBeUndefined();
  });
});

describe('the response that a client receives', () => {
  it('is that of the service: status, headers and bytes, without hop-by-hop headers', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    harness.stub.next((_, response) => {
      response
        .writeHead(418, 'I am', {
          'content-type': 'application/octet-stream',
          'content-disposition': 'attachment',
          etag: '"5"',
          location: '/elsewhere',
          deprecation: '@1',
          'x-internal': '1',
          connection: 'keep-alive, x-internal',
          'keep-alive': 'timeout=1',
        })
        .end(bytes);
    });
    const response = await harness.call('GET', '/ticket/1');
    expect(response.status).toBe(418);
    expect(response.body).toEqual(bytes);
    expect(response.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      etag: '"5"',
      location: '/elsewhere',
      deprecation: '@1',
      'x-content-type-options': 'nosniff',
      'ratelimit-limit': '600',
    });
    expect(response.headers['x-internal']).toBeUndefined();
    expect(response.headers['keep-alive']).not.toBe('timeout=1');
  });

  it('to HEAD has the status and headers of GET, but no body', async () => {
    const response = await harness.call('HEAD', '/ticket/1');
    expect(findLast(harness.stub).method).toBe('HEAD');
    expect(response).toMatchObject({ status: 200, body: Buffer.alloc(0) });
    expect(response.headers['content-type']).toBe('application/json');
  });

  it('is a 404 problem on a path that does not exist', async () => {
    for (const path of ['/', '/nowhere', '/tickets', '/metrics', '/Ticket/1']) {
      const response = await harness.call('POST', path, {
        body: '{}',
        headers: { 'content-type': 'application/json' },
      });
      expect(response.json).toMatchObject({ status: 404, code: 'route_not_found', instance: path });
      expect(response.headers['content-type']).toContain('application/problem+json');
      expect(response.headers['ratelimit-limit']).toBe('600');
    }
  });
});

it.each(['foo', ';', 'a/b/c', 'application'])(
  'responds with 415 to the malformed content type %j, and calls no service',
  async (type) => {
    const before = harness.stub.received.length;
    const response = await harness.call('POST', '/ticket', { headers: { 'content-type': type }, body: '{}' });
    expect(response).toMatchObject({ status: 415, json: { code: 'unsupported_media_type' } });
    expect(harness.stub.received).toHaveLength(before);
  },
);

it('counts requests by the route of the contract', async () => {
  await harness.call('GET', '/ticket/42/history');
  const metrics = await fetch(`http://127.0.0.1:${harness.gateway.ports.internal}/metrics`);
  expect(await metrics.text()).toContain(
    'ticketing_requests_total{api="proxy",route="GET /ticket/{ticket_id}/history",status="200",service="gateway"} 1',
  );
});
