import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpServer, type ListeningServers, listenOn } from './http-server.ts';

let server: ListeningServers;
beforeAll(async () => {
  const [http, grpc] = [createHttpServer(), createHttpServer({ http2: true })];
  for (const app of [http, grpc]) {
    app.post('/read', async ({ body }) => body);
    app.post('/unread', { onRequest: async (_, reply) => reply.code(401).send('no') }, async () => 'yes');
  }
  server = await listenOn({ host: '127.0.0.1' }, { http, grpc }, { http: 0, grpc: 0, internal: 0 });
});
afterAll(() => server.close(0));

/** Sends a request over HTTP/1.1 whose body follows only when the server asks for it. Returns the response. */
async function askHttp1(path: string) {
  const headers = {
    connection: 'keep-alive',
    expect: '100-continue',
    'content-type': 'application/json',
    'content-length': 2,
  };
  const request = httpRequest({
    port: server.ports.http,
    host: '127.0.0.1',
    method: 'POST',
    path,
    headers,
    agent: false,
  });
  let isAsked = false;
  request.on('continue', () => {
    isAsked = true;
    request.end('{}');
  });
  request.on('error', () => undefined);
  request.flushHeaders();
  const [response] = await once(request, 'response');
  const seen = { isAsked, status: response.statusCode, connection: response.headers.connection };
  await text(response);
  request.destroy();
  return seen;
}

async function askHttp2(path: string) {
  const session = connectHttp2(`http://127.0.0.1:${server.ports.grpc}`);
  const headers = { ':method': 'POST', ':path': path, expect: '100-continue', 'content-type': 'application/json' };
  const stream = session.request(headers);
  let isAsked = false;
  stream.on('continue', () => {
    isAsked = true;
    stream.end('{}');
  });
  const [response] = await once(stream, 'response');
  session.destroy();
  return { isAsked, status: response[':status'] };
}

test('a body is asked for when it is read', async () => {
  expect(await askHttp1('/read')).toEqual({ isAsked: true, status: 200, connection: undefined });
  expect(await askHttp2('/read')).toEqual({ isAsked: true, status: 200 });
});

// guarantee: A3
test('a body that nobody reads is not asked for, and its connection of HTTP/1.1 is closed', async () => {
  expect(await askHttp1('/unread')).toEqual({ isAsked: false, status: 401, connection: 'close' });
  expect(await askHttp2('/unread')).toEqual({ isAsked: false, status: 401 });
});

test('a client that does not wait is not asked for its body before it is admitted', async () => {
  const socket = connect(server.ports.http, '127.0.0.1');
  socket.write('POST /unread HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n{}');
  socket.end();
  expect(await text(socket)).toMatch(/^HTTP\/1.1 401 /);
});
