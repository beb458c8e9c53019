import { once } from 'node:events';
import { connect } from 'node:http2';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { turns } from '@ticketing/testkit/turns.ts';
import { expect, test } from 'vitest';
import { createHttpServer } from './http-server.ts';
import { onClosed } from './on-closed.ts';

test.each([false, true])('is called once, also if the client has gone before; over HTTP/2: %s', async (http2) => {
  const app = createHttpServer({ http2 });
  let calls = 0;
  const begun = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  app.addHook('onRequest', async (_request, reply) => {
    begun.resolve();
    onClosed(reply, () => calls++);
    // As long as the verification of a token takes at worst; the client leaves meanwhile.
    await once(reply.raw, 'close');
    await turns(10);
    onClosed(reply, () => calls++);
    done.resolve();
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const leave = http2 ? requestHttp2(port) : requestHttp1(port);
  await begun.promise;
  leave();
  await done.promise;
  expect(calls).toBe(2);
  await app.close();
});

function requestHttp1(port: number): () => void {
  const socket = connectTcp(port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n');
  return () => socket.destroy();
}

function requestHttp2(port: number): () => void {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => undefined);
  session.request({ ':method': 'POST', ':path': '/' }).on('error', () => undefined);
  return () => session.destroy();
}
