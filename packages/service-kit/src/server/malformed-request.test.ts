import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpServer, type ListeningServers, listenOn } from './http-server.ts';

let server: ListeningServers;

beforeAll(async () => {
  const app = createHttpServer();
  app.get('/*', async () => 'ok');
  server = await listenOn({ host: '127.0.0.1' }, { http: app }, { http: 0, grpc: 0, internal: 0 });
});

afterAll(() => server.close(0));

it('accepts a request of HTTP/1.0 without a host, and the expectation of a 100', async () => {
  for (const bytes of [
    'GET / HTTP/1.0\r\n\r\n',
    'GET / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n',
  ]) {
    const socket = connect(server.ports.http, '127.0.0.1');
    socket.write(bytes);
    expect(await text(socket)).toMatch(/HTTP\/1.1 200 OK/);
  }
});

// guarantee: C16
it('refuses two credentials over HTTP/2', async () => {
  const app = createHttpServer({ http2: true });
  app.get('/*', async () => 'ok');
  const listening = await listenOn({ host: '127.0.0.1' }, { grpc: app }, { http: 0, grpc: 0, internal: 0 });
  const responseTo = async (credentials: number) => {
    const socket = connect(listening.ports.grpc, '127.0.0.1');
    socket.write(http2Request(credentials));
    let received = '';
    for await (const bytes of socket) {
      received += Buffer.from(bytes).toString('latin1');
      if (/ok$|\}$/.test(received)) break;
    }
    return received;
  };
  expect(await responseTo(1)).toMatch(/ok$/);
  expect(await responseTo(2)).toContain('"status":401');
  await listening.close(0);
});

/** The bytes of a GET over HTTP/2. The client of Node refuses to send a second credential. */
function http2Request(credentials: number): Buffer {
  const frame = (type: number, flags: number, stream: number, payload: Buffer) =>
    Buffer.concat([Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream]), payload]);
  // GET, http, / and the names :authority (1) and authorization (23) from the static table of HPACK.
  const authorization = [0x0f, 23 - 15, 8, ...Buffer.from('Bearer a')];
  const headers = [0x82, 0x86, 0x84, 0x01, 1, 97, ...Array.from({ length: credentials }, () => authorization).flat()];
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(4, 0, 0, Buffer.alloc(0)),
    frame(1, 0b101, 1, Buffer.from(headers)),
  ]);
}

it.each([
  // guarantee: I33
  ['headers beyond 16 KiB', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ['something that is not HTTP', 'hello\r\n\r\n', 400, 'malformed_request'],
  // asvs: 4.2.1
  [
    'two Content-Length headers',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
    400,
    'malformed_request',
  ],
  ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
  ['two hosts', 'GET / HTTP/1.1\r\nhost: a\r\nHost: b\r\n\r\n', 400, 'malformed_request'],
  [
    'two credentials',
    'GET / HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a\r\nAuthorization: Bearer a\r\n\r\n',
    401,
    'invalid_token',
  ],
  // asvs: 4.2.1
  [
    'a transfer coding besides chunked',
    'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    400,
    'malformed_request',
  ],
  ['another expectation', 'GET / HTTP/1.1\r\nhost: a\r\nexpect: tea\r\n\r\n', 417, 'expectation_failed'],
  ['a URL that is not UTF-8', 'GET /%ff HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n', 400, 'malformed_request'],
])('responds to %s with a problem document', async (_, bytes, status, code) => {
  const socket = connect(server.ports.http, '127.0.0.1');
  socket.write(bytes);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head.toLowerCase()).toContain('content-type: application/problem+json');
  expect(JSON.parse(body)).toMatchObject({ status, code, type: `urn:ticketing:problem:${code}`, success: false });
  expect(JSON.parse(body).traceId).toMatch(/^[0-9a-f]{32}$/);
});
