import { createLogger } from '@ticketing/runtime/logger.ts';
import { SandboxError } from '@ticketing/sandbox/sandbox-error.ts';
import { expect, test } from 'vitest';
import { modelLoader } from './builtin.ts';

const log = createLogger('test', 'silent');
const toBytes = (version: number) => Uint8Array.of(version);

/** A source whose models have these versions, and a process that works with the model that was loaded last. */
function opened(versions: number[], damaged: readonly number[] = []) {
  const process = { loaded: 0, loads: 0 };
  const source = {
    async current() {
      const version = versions.at(-1);
      return version === undefined ? undefined : { version, bytes: toBytes(version) };
    },
    async discard(version: number) {
      versions.splice(versions.indexOf(version), 1);
    },
  };
  const load = async (version: number) => {
    process.loads += 1;
    if (damaged.includes(version)) throw new SandboxError('failed', 'damaged');
    process.loaded = version;
  };
  const withModel = modelLoader(source, load, log);
  const work = () => withModel(async (version) => (process.loaded < version ? null : process.loaded));
  return { process, versions, work };
}

test('a process gets the model once, again when it was replaced, and each newer one', async () => {
  const { process, versions, work } = opened([4]);
  expect(await Promise.all([work(), work(), work()])).toEqual([4, 4, 4]);
  expect(process.loads).toBe(1);
  process.loaded = 0;
  expect(await work()).toBe(4);
  versions.push(5);
  expect(await work()).toBe(5);
  expect(process.loads).toBe(3);
});

test('a model that is damaged is removed, and the one before it is used', async () => {
  const { process, versions, work } = opened([4, 5], [5]);
  expect(await work()).toBe(4);
  expect([versions, process.loads]).toEqual([[4], 2]);
});

test('without a model that can be read, work is done with none', async () => {
  expect(await opened([]).work()).toBe(0);
  expect(await opened([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]).work()).toBe(0);
});
