import { once } from 'node:events';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createHttpServer } from './http-server.ts';
import { limitSessions } from './http2-sessions.ts';
import { defaultServerLimits } from './server-limits.ts';

test('a server that closes lets calls in flight finish for a while, then ends their connections', async () => {
  const goAwayMs = 300;
  const app = createHttpServer({ http2: true });
  limitSessions(app, { ...defaultServerLimits, goAwayMs });
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
  const closedAt = performance.now();
  const closed = app.close();
  await wentAway;
  finish.resolve('done');
  const [headers] = await once(finishing, 'response');
  expect(headers[':status']).toBe(200);
  await once(endless, 'close');
  expect(performance.now() - closedAt).toBeGreaterThan(goAwayMs - 50);
  await closed;
});
