import { createLogger } from '@ticketing/runtime/logger.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { defaultServerLimits } from '../config/server-limits.ts';
import { type Health, watchHealth } from '../observability/health.ts';
import { createMetrics } from '../observability/metrics.ts';
import { createHttpServer, listenOn } from './http-server.ts';
import { internalServer } from './probes.ts';

let isUp = true;
let health: Health;
const metrics = createMetrics('probe');
let app: ReturnType<typeof internalServer>;
const newInternalServer = () =>
  internalServer({ health, metrics, log: createLogger('probe', 'silent'), limits: defaultServerLimits });

beforeAll(() => {
  health = watchHealth({ store: async () => (isUp ? undefined : Promise.reject(new Error('unavailable'))) });
  app = newInternalServer();
});
afterAll(async () => {
  health.close();
  await app.close();
});

test('/healthz is 200 as long as the process responds, /readyz as long as its dependencies do', async () => {
  for (const up of [true, false]) {
    isUp = up;
    const alive = await app.inject('/healthz');
    expect([alive.statusCode, alive.json()]).toEqual([200, { status: 'ok' }]);
    const ready = await app.inject('/readyz');
    expect(ready.statusCode).toBe(up ? 200 : 503);
    expect(ready.json()).toEqual({ status: up ? 'ready' : 'not_ready', dependencies: { store: up ? 'up' : 'down' } });
    expect(ready.headers['cache-control']).toBe('no-store');
  }
});

test.each(['/healthz', '/readyz', '/metrics'])('other methods of %s are refused with the allowed ones', async (url) => {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
    const response = await app.inject({ method, url });
    expect([response.statusCode, response.headers.allow, response.json().code]).toEqual([
      405,
      'GET, HEAD',
      'method_not_allowed',
    ]);
  }
  expect((await app.inject({ method: 'HEAD', url })).statusCode).toBeLessThan(504);
});

// guarantee: C18
// asvs: 13.4.5
test('the internal server listens on an address of its own', async () => {
  const servers = { http: createHttpServer(), internal: newInternalServer() };
  const listening = await listenOn({ host: '0.0.0.0', internalHost: '127.0.0.1' }, servers, {
    http: 0,
    grpc: 0,
    internal: 0,
  });
  expect(servers.http.server.address()).toMatchObject({ address: '0.0.0.0', port: listening.ports.http });
  expect(servers.internal.server.address()).toMatchObject({ address: '127.0.0.1', port: listening.ports.internal });
  await listening.close(0);
});

test('requests for /metrics that come together share one rendering', async () => {
  const render = vi.spyOn(metrics.registry, 'metrics');
  const responses = await Promise.all(Array.from({ length: 10 }, () => app.inject('/metrics')));
  expect(render).toHaveBeenCalledTimes(1);
  expect(new Set(responses.map(({ body }) => body)).size).toBe(1);
  expect((await app.inject('/metrics')).statusCode).toBe(200);
  expect(render).toHaveBeenCalledTimes(2);
});

test('a process that works on one thing for long has late timers', async () => {
  const readMaximum = async () =>
    Number(/^nodejs_eventloop_lag_max_seconds\{.*\} (\S+)$/m.exec((await app.inject('/metrics')).body)?.[1]);
  await readMaximum();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
  await expect.poll(readMaximum).toBeGreaterThanOrEqual(0.25);
});

test('/metrics has requests by route pattern and status, and the metrics of the process', async () => {
  metrics.observeRequest({ api: 'rest', route: '/ticket/:ticketId', status: '200', seconds: 0.004 });
  metrics.observeRequest({ api: 'rest', route: '/ticket/:ticketId', status: '200', seconds: 40 });
  const { headers, body } = await app.inject('/metrics');
  expect(headers['content-type']).toContain('text/plain');
  const labels = 'api="rest",route="/ticket/:ticketId"';
  expect(body).toContain(`ticketing_requests_total{${labels},status="200",service="probe"} 2`);
  expect(body).toMatch(/ticketing_request_duration_seconds_bucket\{le="0.005",[^}]*\} 1\n/);
  expect(body).toMatch(/ticketing_request_duration_seconds_count\{[^}]*\} 2\n/);
  expect(body).toMatch(/^nodejs_eventloop_lag_p99_seconds\{service="probe"\} /m);
});
