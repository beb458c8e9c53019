import { afterEach, expect, it, vi } from 'vitest';
import { addressRules } from '../src/address-rules.ts';
import { Exchange } from '../src/exchange.ts';
import { guardedConnector } from '../src/guarded-connector.ts';
import { originPools } from '../src/origin-pools.ts';
import { startReceiver } from './receiver.ts';

afterEach(() => {
  vi.useRealTimers();
});

// guarantee: O8
it('removes the pool of an origin that has no requests, however the last one ended', async () => {
  const receiver = await startReceiver((request, response) => {
    if (request.url === '/') response.end('ok');
  });
  const rules = addressRules({ allow: [{ address: '127.0.0.0', prefix: 8, family: 'ipv4' }], requireHttps: true });
  const pools = originPools(guardedConnector({ rules, resolve: async () => [], ca: undefined }));
  const stop = new AbortController();
  const send = (origin: string, path: string) => {
    const options = { maxBytes: 10, refusesLongBody: false, skipsBody: () => false, signal: stop.signal };
    const exchange = new Exchange(options);
    pools.send({ origin, path, method: 'GET' }, exchange);
    return exchange.result.then(
      ({ status }) => status,
      (error) => error.kind ?? error.message,
    );
  };
  const at = (port: number) => `http://127.0.0.1:${port}`;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const good = send(at(receiver.port), '/');
  expect(await good).toBe(200);
  expect(await send('http://127.0.0.9:1', '/')).toBe('connect_failed');
  expect(await send('http://10.0.0.1', '/')).toBe('address_refused');
  const hanging = send(`http://127.0.0.2:${receiver.port}`, '/hang').catch(() => undefined);
  const waiting = send(at(receiver.port), '/hang');
  expect(pools.origins()).toHaveLength(4);
  await vi.advanceTimersByTimeAsync(4000);
  // The first has a request again.
  expect(pools.origins()).toContain(at(receiver.port));
  stop.abort(new Error('stopped'));
  expect(await waiting).toBe('stopped');
  await hanging;
  await vi.advanceTimersByTimeAsync(3999);
  expect(pools.origins()).toContain(at(receiver.port));
  await vi.advanceTimersByTimeAsync(1);
  expect(pools.origins()).toEqual([]);
  await pools.destroy();
});
