import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { readStatuses, sendPipelined } from '@ticketing/testkit/pipelined.ts';
import { untilStill } from '@ticketing/testkit/until-still.ts';
import { afterEach, expect, test } from 'vitest';
import { createHttpServer } from './http-server.ts';

let app = createHttpServer();
afterEach(() => app.close());

async function start(respond: () => unknown): Promise<{ port: number; handled: () => number }> {
  app = createHttpServer();
  let handled = 0;
  app.get('/', async () => {
    handled += 1;
    return respond();
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { port: (app.server.address() as AddressInfo).port, handled: () => handled };
}

test('64 requests may be in flight on one connection, and each gets its response', async () => {
  const { port } = await start(() => 'here');
  const socket = await sendPipelined({ port, path: '/', count: 64, isClosed: true });
  expect(await readStatuses(socket)).toEqual(Array(64).fill(200));
});

test('one more closes the connection, and no handler runs for the others of its segment', async () => {
  const { port, handled } = await start(() => new Promise(() => undefined));
  const socket = await sendPipelined({ port, path: '/', count: 1_600 });
  expect(await readStatuses(socket)).toEqual([]);
  expect(handled()).toBe(64);
});

test('a connection may have any number of requests, one after the other', async () => {
  const { port, handled } = await start(() => 'here');
  const socket = await sendPipelined({ port, path: '/', count: 64 });
  await once(socket.resume(), 'data');
  for (let nth = 0; nth < 100; nth++) {
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await once(socket, 'data');
  }
  await expect.poll(handled).toBe(164);
  socket.destroy();
});

test('the next requests of a client that does not read its responses are not handled', async () => {
  const { port, handled } = await start(() => Buffer.alloc(8 * 1024 * 1024));
  const sockets: Socket[] = [];
  app.server.on('connection', (socket: Socket) => sockets.push(socket));
  const socket = await sendPipelined({ port, path: '/', count: 1 });
  let sent = 1;
  const send = (count: number) => {
    sent += count;
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(count));
  };
  // Node notices with a next request that the responses are not read.
  const isPaused = () => {
    send(1);
    return sockets[0]?.isPaused();
  };
  await expect.poll(isPaused).toBe(true);
  const before = sent;
  send(9);
  await untilStill(handled);
  expect(handled()).toBeLessThanOrEqual(before);
  socket.resume();
  await expect.poll(handled).toBe(sent);
  socket.destroy();
});
