import { createLogger } from '@ticketing/runtime/logger.ts';
import { expect, test } from 'vitest';
import { openCurrentModel } from './current-model.ts';

/** A store of models with these versions, and its clock. */
function opened(...versions: number[]) {
  const state = { versions, now: 5_000, reads: 0, isAvailable: true };
  const store = {
    async newest() {
      state.reads += 1;
      if (!state.isAvailable) throw new Error('unavailable');
      const version = state.versions.at(-1);
      if (version === undefined) return undefined;
      return { version, trainedAt: 0, durationMs: 0, erasures: 0, examples: 0, labels: 0 };
    },
    readBytes: async (version: number) => (state.versions.includes(version) ? Uint8Array.of(version) : undefined),
    discard: async (version: number) => {
      state.versions.splice(state.versions.indexOf(version), 1);
    },
  };
  const source = openCurrentModel(store, () => state.now, createLogger('test', 'silent'));
  return { state, store, source, version: async () => (await source.current())?.version };
}

test('looks for a newer model once a second, however many ask', async () => {
  const { state, version } = opened(1);
  expect(await Promise.all([version(), version(), version()])).toEqual([1, 1, 1]);
  state.versions.push(2);
  state.now += 999;
  expect([await version(), state.reads]).toEqual([1, 1]);
  state.now += 1;
  expect([await version(), state.reads]).toEqual([2, 2]);
});

test('keeps its model while the store is unavailable, and while the newest one is removed', async () => {
  const { state, store, version } = opened(1);
  await version();
  state.isAvailable = false;
  state.now += 1_000;
  expect(await version()).toBe(1);
  state.isAvailable = true;
  state.versions.push(2);
  store.readBytes = async () => undefined;
  state.now += 1_000;
  expect(await version()).toBe(1);
});

test('has another model at once when one was discarded, and none without any', async () => {
  const { source, version } = opened(1, 2);
  expect(await version()).toBe(2);
  await source.discard(2);
  expect(await version()).toBe(1);
  await source.discard(1);
  expect(await version()).toBeUndefined();
});
