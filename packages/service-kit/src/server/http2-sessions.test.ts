import { once } from 'node:events';
import { connect, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect as connectSocket, type Socket } from 'node:net';
import { createClient } from '@connectrpc/connect';
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import { createGrpcTransport as createForeignTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createGrpcTransport } from '../client/grpc-transport.ts';
import { defaultServerLimits } from '../config/server-limits.ts';
import { createHttpServer, listenOn } from './http-server.ts';
import { limitSessions, type SessionTimers } from './http2-sessions.ts';

// guarantee: A6
test('a server that closes lets calls in flight finish for a while, then ends their connections', async () => {
  const { goAwayMs } = defaultServerLimits;
  const app = createHttpServer({ http2: true });
  const timers = manualTimers();
  limitSessions(app, defaultServerLimits, timers);
  const finish = Promise.withResolvers<string>();
  let served = 0;
  const serve = (response: Promise<string>) => () => {
    served++;
    return response;
  };
  app.get('/finishes', serve(finish.promise));
  app.get('/never', serve(new Promise(() => undefined)));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
  session.on('error', () => undefined);
  const [finishing, endless] = ['/finishes', '/never'].map((path) => session.request({ ':path': path }));
  if (!finishing || !endless) throw new Error('no streams');
  endless.on('error', () => undefined);
  await expect.poll(() => served).toBe(2);
  const wentAway = once(session, 'goaway');
  const closed = app.close();
  await wentAway;
  finish.resolve('done');
  const [headers] = await once(finishing, 'response');
  expect(headers[':status']).toBe(200);
  timers.advance(goAwayMs - 1);
  expect(endless.closed).toBe(false);
  timers.advance(1);
  await once(endless, 'close');
  await closed;
});

test('a server that closes also ends the connection of a client that reads no more', async () => {
  const app = createHttpServer({ http2: true });
  limitSessions(app, { ...defaultServerLimits, goAwayMs: 300 });
  // More than the system keeps for a client that does not read.
  app.get('/', async () => Buffer.alloc(64 * 1024 * 1024));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connectSocket({ port: (app.server.address() as AddressInfo).port, host: '127.0.0.1' });
  const frames = [
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    // Settings and an update, which allow that everything is sent at once; a request.
    '\0\0\x06\x04\0\0\0\0\0\0\x04\x7f\xff\xff\xff',
    '\0\0\x04\x08\0\0\0\0\0\x7f\xff\0\0',
    '\0\0\x06\x01\x05\0\0\0\x01\x82\x86\x84\x41\x01a',
  ];
  const responded = once(app.server, 'stream');
  socket.on('error', () => undefined).write(frames.join(''), 'latin1');
  await responded;
  await app.close();
  socket.destroy();
});

test('a connection without the settings of a client ends; one with them stays, also without a call', async () => {
  const app = createHttpServer({ http2: true });
  const timers = manualTimers();
  limitSessions(app, defaultServerLimits, timers);
  let opened = 0;
  let withSettings = 0;
  app.server.on('session', (session: ServerHttp2Session) => {
    opened++;
    session.once('remoteSettings', () => withSettings++);
  });
  app.get('/', async () => 'here');
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const used = connect(`http://127.0.0.1:${port}`);
  const call = async () => {
    const stream = used.request({ ':path': '/' }).resume();
    const [headers] = await once(stream, 'response');
    return headers[':status'];
  };
  expect(await call()).toBe(200);
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
  const settings = '\0\0\0\x04\0\0\0\0\0';
  const open = (bytes: string) => {
    const socket = connectSocket({ port, host: '127.0.0.1' });
    socket.resume().write(bytes, 'latin1');
    return socket;
  };
  const unused = open(preface + settings);
  const silent = ['', preface].map(open);
  await expect.poll(() => [opened, withSettings]).toEqual([4, 2]);
  timers.advance(defaultServerLimits.settingsMs - 1);
  expect(await call()).toBe(200);
  expect(silent.map(({ closed }) => closed)).toEqual([false, false]);
  const ended = Promise.all(silent.map((socket) => once(socket, 'close')));
  timers.advance(1);
  await ended;
  expect(used.closed).toBe(false);
  expect(unused.closed).toBe(false);
  unused.destroy();
  expect(await call()).toBe(200);
  used.destroy();
  await app.close();
});

// guarantee: I34
test('connections whose clients take no response make room when the listener is full', async () => {
  const { goAwayMs } = defaultServerLimits;
  const timers = manualTimers();
  const { port, app, sockets } = await listenForThree(timers);
  let goneAway = 0;
  const open = (path: string) => {
    const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
    onTestFinished(() => session.destroy());
    session.on('error', () => undefined).once('goaway', () => goneAway++);
    const stream = session.request({ ':path': path }).on('error', () => undefined);
    return { session, stream };
  };
  const stuck = ['/unknown', '/unknown'].map(open);
  const responses = await Promise.all(stuck.map(({ stream }) => once(stream, 'response')));
  expect(responses.map(([headers]) => headers[':status'])).toEqual([404, 404]);
  const served = once(app.server, 'stream');
  const busy = open('/never');
  await served;
  const dropped = once(app.server, 'drop');
  open('/');
  await dropped;
  await expect.poll(() => goneAway).toBe(2);
  timers.advance(goAwayMs - 1);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
  timers.advance(1);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, false]);
  await expect.poll(() => stuck.map(({ session }) => session.destroyed)).toEqual([true, true]);
  const [headers] = await once(open('/').stream, 'response');
  expect(headers[':status']).toBe(200);
  expect(busy.session.closed).toBe(false);
});

test('an idle connection that makes room ends after a second, even if its client does not close it', async () => {
  const timers = manualTimers();
  const { port, sockets } = await listenForThree(timers);
  const open = () => {
    // A client that leaves its half of the connection open.
    const socket = connectSocket({ port, host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
    return socket.resume();
  };
  const idle = [1, 2, 3].map(open);
  const ended = Promise.all(idle.map((socket) => once(socket, 'end')));
  await Promise.all(idle.map((socket) => once(socket, 'data')));
  open();
  await ended;
  timers.advance(999);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
  timers.advance(1);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
});

// Source: docs/operations/scaling.md, Connections.
test.each([71_000, 73_000, 400_000, 86_400_000])(
  'a client that calls again after a pause of %i ms sees no error',
  async (pauseMs) => {
    const timers = manualTimers();
    const app = createHttpServer({ http2: true });
    limitSessions(app, defaultServerLimits, timers);
    await app.register(fastifyConnectPlugin, {
      routes: (router) => router.service(TagService, { createTag: () => ({ id: 1 }) }),
    });
    let ended = 0;
    // The limit of Fastify is a timer inside Node, which no test can advance.
    const idleLimits: number[] = [];
    app.server.prependListener('session', (session: ServerHttp2Session) => {
      session.once('close', () => ended++);
      vi.spyOn(session, 'setTimeout').mockImplementation((ms) => void idleLimits.push(ms));
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const ours = createGrpcTransport({
      target: `ipv4:127.0.0.1:${port}`,
      defaultTimeoutMs: 100_000,
      services: [TagService],
    });
    const sessionManager = new Http2SessionManager(`http://127.0.0.1:${port}`);
    const foreign = createForeignTransport({ baseUrl: `http://127.0.0.1:${port}`, sessionManager });
    const clients = [ours, foreign].map((transport) => createClient(TagService, transport));
    const callAll = () => Promise.all(clients.map((client) => client.createTag({})));
    await callAll();
    timers.advance(pauseMs);
    const isLong = pauseMs > 330_000;
    await expect.poll(() => ended).toBe(isLong ? 2 : 0);
    await expect.poll(() => sessionManager.state()).toBe(isLong ? 'closed' : 'idle');
    expect(await callAll()).toMatchObject([{ id: 1 }, { id: 1 }]);
    expect(ended).toBe(isLong ? 2 : 0);
    expect(idleLimits.filter((ms) => ms > 0)).toEqual([]);
    ours.close();
    sessionManager.abort();
    await app.close();
  },
);

// Node's client loses a response while more than its `maxSessionMemory` of a body waits to be written: 10 MB by default.
test.each([10, 100])(
  'a refused upload of 39 MiB ends at once, from a client that keeps %i MB',
  async (maxSessionMemory) => {
    const app = createHttpServer({ http2: true });
    app.addHook('onRequest', async (_request, reply) => reply.code(401).send('refused'));
    app.post('/', async () => 'never');
    await app.listen({ host: '127.0.0.1', port: 0 });
    const opened = once(app.server, 'stream') as Promise<[ServerHttp2Stream]>;
    const { port } = app.server.address() as AddressInfo;
    const session = connect(`http://127.0.0.1:${port}`, { maxSessionMemory }).on('error', () => undefined);
    const length = 39 * 1024 * 1024;
    const upload = session
      .request({ ':method': 'POST', ':path': '/', 'content-length': length })
      .on('error', () => undefined);
    const statuses: unknown[] = [];
    upload.on('response', (headers) => statuses.push(headers[':status']));
    upload.end(Buffer.alloc(length));
    const [stream] = await opened;
    await expect.poll(() => stream.closed).toBe(true);
    if (maxSessionMemory > 39) await expect.poll(() => statuses).toEqual([401]);
    session.destroy();
    await app.close();
  },
);

/** Listens for three connections until the test has finished. A request for `/never` gets no response. */
async function listenForThree(timers: SessionTimers) {
  const app = createHttpServer({ http2: true });
  limitSessions(app, defaultServerLimits, timers);
  app.get('/', async () => 'here');
  app.get('/never', () => new Promise(() => undefined));
  const servers = await listenOn(
    { host: '127.0.0.1', connections: { total: 3, ofAddress: 0 } },
    { http: app },
    { http: 0, grpc: 0, internal: 0 },
  );
  onTestFinished(() => servers.close(0));
  const sockets: Socket[] = [];
  app.server.on('connection', (socket: Socket) => sockets.push(socket));
  return { app, sockets, port: servers.ports.http };
}

/** Timers that run when the test advances them. */
function manualTimers(): SessionTimers & { advance(ms: number): void } {
  let now = 0;
  const waiting = new Map<NodeJS.Timeout, { at: number; run: () => void }>();
  return {
    setTimeout(run, ms) {
      const timer = { unref: () => timer } as NodeJS.Timeout;
      waiting.set(timer, { at: now + ms, run });
      return timer;
    },
    clearTimeout: (timer) => void waiting.delete(timer),
    advance(ms) {
      now += ms;
      for (const [timer, { at, run }] of waiting) {
        if (at > now) continue;
        waiting.delete(timer);
        run();
      }
    },
  };
}
