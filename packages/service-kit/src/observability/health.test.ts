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

test('is ready once every dependency responds, and reports those that do not', async () => {
  let isStoreUp = false;
  const store = async () => {
    if (!isStoreUp) throw new Error('unavailable');
  };
  health = watchHealth({ store, bus: async () => undefined });
  expect(health.isReady()).toBe(false);
  expect(await health.report()).toEqual({ status: 'not_ready', dependencies: { store: 'down', bus: 'up' } });
  isStoreUp = true;
  expect(await health.report()).toEqual({ status: 'ready', dependencies: { store: 'up', bus: 'up' } });
});

test('checks every 2 seconds, and notifies its listeners only of changes', async () => {
  let isUp = true;
  const changes: boolean[] = [];
  const watched = watchHealth({ store: async () => (isUp ? undefined : Promise.reject(new Error('unavailable'))) });
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

test('a dependency that does not respond is down, and does not delay the report', async () => {
  health = watchHealth({ silent: () => new Promise(() => undefined) });
  const report = health.report();
  await vi.advanceTimersByTimeAsync(1600);
  expect(await report).toEqual({ status: 'not_ready', dependencies: { silent: 'down' } });
});

test('reports that are requested at the same time share one check', async () => {
  const check = vi.fn(async () => undefined);
  const watched = watchHealth({ store: check });
  health = watched;
  await Promise.all(Array.from({ length: 50 }, () => watched.report()));
  expect(check.mock.calls.length).toBeLessThanOrEqual(2);
});

test('is not ready once the service is stopping', async () => {
  health = watchHealth({});
  expect((await health.report()).status).toBe('ready');
  health.startStopping();
  expect(health.isReady()).toBe(false);
  expect((await health.report()).status).toBe('stopping');
});
