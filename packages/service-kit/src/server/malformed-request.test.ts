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

it.each([
  ['headers beyond 16 KiB', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ['something that is not HTTP', 'hello\r\n\r\n', 400, 'malformed_request'],
  [
    'two Content-Length headers',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
    400,
    'malformed_request',
  ],
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
