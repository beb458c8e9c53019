import type { AddressInfo } from 'node:net';
import { replyWithProblems } from '@ticketing/rest/routes/problem-reply.ts';
import { sendPipelined } from '@ticketing/testkit/pipelined.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHttpServer } from './http-server.ts';
import { limitAnonymous } from './limit-anonymous.ts';

let app = createHttpServer();
let handled = 0;
let held = Promise.withResolvers<void>();
beforeEach(async () => {
  app = createHttpServer();
  handled = 0;
  held = Promise.withResolvers();
  replyWithProblems(app, { findTraceId: () => '', onServerError: () => undefined });
  limitAnonymous(app, {
    limit: 3,
    isAnonymous: ({ routeOptions }) => routeOptions.url !== '/private',
    findAddress: ({ headers }) => String(headers['x-address'] ?? '192.0.2.1'),
  });
  const handle = async () => {
    handled += 1;
    await held.promise;
    return 'here';
  };
  for (const path of ['/page', '/healthz', '/private']) app.get(path, handle);
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  held.resolve();
  await app.close();
});

const send = (path: string, address = '192.0.2.1') => app.inject({ path, headers: { 'x-address': address } });
const sendMany = (path: string, count: number) => Array.from({ length: count }, () => send(path));

test('an address has as many anonymous requests in flight as it may; one more is 429, and others are not affected', async () => {
  const first = sendMany('/page', 3);
  await expect.poll(() => handled).toBe(3);
  const refused = await send('/page');
  expect([refused.statusCode, refused.json().code, refused.headers['retry-after']]).toEqual([
    429,
    'too_many_at_once',
    '1',
  ]);
  const others = [send('/page', '192.0.2.2'), send('/private'), send('/healthz')];
  await expect.poll(() => handled).toBe(6);
  held.resolve();
  for (const response of await Promise.all([...first, ...others])) expect(response.statusCode).toBe(200);
  expect((await send('/page')).statusCode).toBe(200);
});

test('requests of a connection that has gone are given back, also those whose turn had not come', async () => {
  const { port } = app.server.address() as AddressInfo;
  const socket = await sendPipelined({ port, path: '/page', count: 3 });
  await expect.poll(() => handled).toBe(3);
  expect((await send('/page')).statusCode).toBe(429);
  socket.destroy();
  held.resolve();
  await expect.poll(async () => (await send('/page')).statusCode).toBe(200);
});
