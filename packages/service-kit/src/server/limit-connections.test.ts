import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { withinTime } from '@ticketing/testkit/machine-limits.ts';
import { afterEach, expect, test, vi } from 'vitest';
import { defaultServerLimits } from '../config/server-limits.ts';
import { createHttpServer, listenOn } from './http-server.ts';
import { limitSessions } from './http2-sessions.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

/** Starts a server; `http2` for that of native gRPC. */
async function start(connections: { total: number; ofAddress: number }, http2 = false): Promise<number> {
  const app = createHttpServer({ http2 });
  if (http2) limitSessions(app, defaultServerLimits);
  app.get('/', async () => 'here');
  const servers = await listenOn({ host: '0.0.0.0', connections }, { http: app }, { http: 0, grpc: 0, internal: 0 });
  opened.push({ close: () => servers.close(0) });
  return (app.server.address() as AddressInfo).port;
}

/** Opens a connection from an address of this machine. Says whether the server has kept it, by whether it responds. */
async function open(
  port: number,
  localAddress = '127.0.0.1',
  http2 = false,
): Promise<{ socket: Socket; isKept: boolean }> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  opened.push({ close: () => socket.destroy() });
  socket.on('error', () => undefined);
  const settled = Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)]);
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0';
  socket.write(http2 ? preface : 'GET / HTTP/1.1\r\nhost: a\r\n\r\n', 'latin1');
  return { socket, isKept: await settled.catch(() => false) };
}

test.each([false, true])(
  // guarantee: I34
  'an address has as many connections as it may, and no other is affected (HTTP/2: %s)',
  async (http2) => {
    const port = await start({ total: 100, ofAddress: 3 }, http2);
    const flood = await Promise.all(Array.from({ length: 20 }, () => open(port, '127.0.0.1', http2)));
    expect(flood.filter(({ isKept }) => isKept)).toHaveLength(3);
    // Elsewhere the loopback interface has one address only.
    if (process.platform === 'linux') expect((await open(port, '127.0.0.2', http2)).isKept).toBe(true);
    const kept = flood.find(({ isKept }) => isKept);
    kept?.socket.destroy();
    await expect.poll(async () => (await open(port, '127.0.0.1', http2)).isKept).toBe(true);
  },
);

test.each([false, true])(
  // guarantee: I34
  'a listener has as many connections as it may; when it is full, those that wait for a request make room (HTTP/2: %s)',
  async (http2) => {
    const port = await start({ total: 3, ofAddress: 0 }, http2);
    const openOne = async () => (await open(port, '127.0.0.1', http2)).isKept;
    for (let nth = 1; nth <= 3; nth++) expect(await openOne(), `connection ${nth}`).toBe(true);
    expect(await openOne()).toBe(false);
    await expect.poll(openOne).toBe(true);
  },
);

// Elsewhere the loopback interface has one address only.
test.runIf(process.platform === 'linux')(
  // guarantee: I34
  'room is made by the client that has the most connections, as far as they wait for a request',
  async () => {
    const port = await start({ total: 4, ofAddress: 0 });
    const greedy = await Promise.all([1, 2, 3].map(() => open(port, '127.0.0.2')));
    const modest = await open(port, '127.0.0.3');
    // One that has begun its next request is not idle.
    greedy[0]?.socket.write('GET /');
    await expect.poll(async () => (await open(port, '127.0.0.4')).isKept).toBe(true);
    await expect.poll(() => greedy.map(({ socket }) => socket.closed)).toEqual([false, true, true]);
    expect((await open(port, '127.0.0.4')).isKept).toBe(true);
    // All of the greedy one that is left is busy now, and so the others have the most.
    await expect.poll(async () => (await open(port, '127.0.0.5')).isKept).toBe(true);
    expect(greedy[0]?.socket.closed).toBe(false);
    expect(modest.socket.closed).toBe(false);
    const response = once(modest.socket, 'data');
    modest.socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    expect(String(await response)).toContain('200 OK');
  },
);

// Elsewhere the loopback interface has one address only.
test.runIf(process.platform === 'linux')(
  'over HTTP/2, too, the client with the most connections makes room',
  async () => {
    const port = await start({ total: 4, ofAddress: 0 }, true);
    const greedy = await Promise.all([1, 2, 3].map(() => open(port, '127.0.0.2', true)));
    const modest = await open(port, '127.0.0.3', true);
    await expect.poll(async () => (await open(port, '127.0.0.4', true)).isKept).toBe(true);
    await expect.poll(() => greedy.map(({ socket }) => socket.closed)).toEqual([true, true, true]);
    expect(modest.socket.closed).toBe(false);
  },
);

// Source: docs/operations/scaling.md, Connections.
test.each([false, true])('the system probes silent connections (HTTP/2: %s)', async (http2) => {
  const setKeepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
  const port = await start({ total: 2, ofAddress: 0 }, http2);
  for (let nth = 1; nth <= 2; nth++) expect((await open(port, '127.0.0.1', http2)).isKept).toBe(true);
  expect(setKeepAlive.mock.calls).toEqual([
    [true, 30_000],
    [true, 30_000],
  ]);
});

test('connections that send nothing keep their places until their headers are late', async () => {
  const port = await start({ total: 2, ofAddress: 0 });
  for (let nth = 1; nth <= 2; nth++) {
    const socket = connect({ port, host: '127.0.0.1' });
    opened.push({ close: () => socket.destroy() });
    await once(socket, 'connect');
  }
  expect((await open(port)).isKept).toBe(false);
});

test('a connection whose headers do not end is closed about a second after they are late', async () => {
  const app = createHttpServer({ headersMs: 300 });
  expect(app.server).toMatchObject({ headersTimeout: 300 });
  await app.listen({ host: '127.0.0.1', port: 0 });
  opened.push(app);
  const { port } = app.server.address() as AddressInfo;
  /** Sends these bytes, and nothing else. Returns the response when the server has ended the connection. */
  const send = async (bytes: string) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.write(bytes);
    return text(socket);
  };
  const starts = ['', 'GET / HTTP/1.1\r\nhost: a\r\nx: '];
  const responses = await withinTime(10_000, () => Promise.all(starts.map(send)));
  for (const response of responses) expect(response).toContain('408 Request Timeout');
});
