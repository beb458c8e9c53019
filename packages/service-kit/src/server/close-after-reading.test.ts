import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { turns } from '@ticketing/testkit/turns.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpServer } from './http-server.ts';

const app = createHttpServer();
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', (_request, _body, done) => done(null));
app.post('/', async (_request, reply) => reply.code(400).send('refused'));

const sockets: Socket[] = [];
app.server.on('connection', (socket) => sockets.push(socket));
beforeAll(() => app.listen({ host: '127.0.0.1', port: 0 }));
afterAll(() => app.close());

/** Sends the beginning of a request, and reads nothing yet. */
async function open(): Promise<Socket> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined).pause();
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n1\r\na\r\n');
  await once(socket, 'ready');
  return socket;
}

const chunk = `400\r\n${'a'.repeat(1024)}\r\n`;

test('a client that still sends its body gets the response', async () => {
  const socket = await open();
  for (let nth = 0; nth < 20; nth++) {
    await turns(10);
    socket.write(chunk);
  }
  let received = '';
  socket.resume().on('data', (part) => {
    received += part.toString();
  });
  socket.end('0\r\n\r\n');
  await once(socket, 'close');
  expect(received).toMatch(/^HTTP\/1.1 400 /);
  expect(received).toContain('refused');
});

test.each([
  ['for long', 1],
  ['much', 200],
  ['nothing more', 0],
])('a client that sends %s after the response is disconnected', async (_, chunks) => {
  const socket = await open();
  const own = sockets.at(-1);
  const sendMore = () => {
    if (!socket.writableNeedDrain) socket.write(chunk.repeat(chunks));
    return own?.destroyed;
  };
  await expect.poll(sendMore).toBe(true);
  socket.destroy();
});

test('a connection whose request is complete is closed at once', async () => {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').resume();
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\nconnection: close\r\n\r\na');
  await once(socket, 'close');
  await expect.poll(() => sockets.at(-1)?.destroyed).toBe(true);
});
