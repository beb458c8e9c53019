import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Health, watchHealth } from './health.ts';

let health: Health | undefined;
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  health?.close();
  vi.useRealTimers();
});

test('is ready once every dependency answers, and says which does not', async () => {
  let isStoreUp = false;
  const store = async () => {
    if (!isStoreUp) throw new Error('away');
  };
  health = watchHealth({ store, bus: async () => undefined });
  expect(health.isReady()).toBe(false);
  expect(await health.report()).toEqual({ status: 'not_ready', dependencies: { store: 'down', bus: 'up' } });
  isStoreUp = true;
  expect(await health.report()).toEqual({ status: 'ready', dependencies: { store: 'up', bus: 'up' } });
});

test('looks by itself, and tells its listeners of a change only', async () => {
  let isUp = true;
  const changes: boolean[] = [];
  const watched = watchHealth({ store: async () => (isUp ? undefined : Promise.reject(new Error('away'))) });
  health = watched;
  const stop = watched.onChange(() => changes.push(watched.isReady()));
  await vi.advanceTimersByTimeAsync(4100);
  isUp = false;
  await vi.advanceTimersByTimeAsync(4100);
  expect(changes).toEqual([true, false]);
  stop();
  isUp = true;
  await vi.advanceTimersByTimeAsync(4100);
  expect(watched.isReady()).toBe(true);
  expect(changes).toHaveLength(2);
});

test('a dependency that does not answer is down, and holds nothing up', async () => {
  health = watchHealth({ silent: () => new Promise(() => undefined) });
  const report = health.report();
  await vi.advanceTimersByTimeAsync(1600);
  expect(await report).toEqual({ status: 'not_ready', dependencies: { silent: 'down' } });
});

test('many who ask at a time share one check', async () => {
  const check = vi.fn(async () => undefined);
  const watched = watchHealth({ store: check });
  health = watched;
  await Promise.all(Array.from({ length: 50 }, () => watched.report()));
  expect(check.mock.calls.length).toBeLessThanOrEqual(2);
});

test('is not ready any more when it stops', async () => {
  health = watchHealth({});
  expect((await health.report()).status).toBe('ready');
  health.startStopping();
  expect(health.isReady()).toBe(false);
  expect((await health.report()).status).toBe('stopping');
});
