import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';

let root: string;
const path = (...names: string[]) => join(root, ...names);

/** A stub of npm: records its arguments, prints to standard output, is held by a file, and installs nothing. */
const npm = `
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n');
console.log('added 1 package');
while (existsSync('hold')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
mkdirSync('node_modules', { recursive: true });
writeFileSync('node_modules/.package-lock.json', '{}');
`;

/** Records the process of each attempt to make a folder: the lock. */
const record = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { mkdirSync } = fs;
fs.mkdirSync = (...args) => {
  fs.appendFileSync(new URL('attempts', import.meta.url), process.pid + '\\n');
  return mkdirSync(...args);
};
syncBuiltinESMExports();
`;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ticketing-install-test-'));
  mkdirSync(path('tools', 'cli'), { recursive: true });
  copyFileSync(join(import.meta.dirname, 'install.mjs'), path('tools', 'cli', 'install.mjs'));
  writeFileSync(path('package-lock.json'), '{}');
  writeFileSync(path('npm.mjs'), npm);
  writeFileSync(path('record.mjs'), record);
});

afterEach(() => rmSync(root, { recursive: true }));

async function install(program = path('tools', 'cli', 'install.mjs')): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, ['--import', path('record.mjs'), program], {
    env: { ...process.env, npm_execpath: path('npm.mjs') },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { code, output };
}

const readLines = (name: string) => (existsSync(path(name)) ? readFileSync(path(name), 'utf8').trim().split('\n') : []);
const calls = () => readLines('calls');

it('installs once when several scripts start at the same time, and prints nothing to standard output', async () => {
  writeFileSync(path('hold'), '');
  const installing = Promise.all([install(), install(), install()]);
  await expect.poll(() => new Set(readLines('attempts')).size).toBe(3);
  rmSync(path('hold'));
  const silent = { code: 0, output: '' };
  expect(await installing).toEqual([silent, silent, silent]);
  expect(calls()).toEqual(['ci --loglevel=error --no-audit --no-fund']);
  await install();
  expect(calls()).toHaveLength(1);
});

it('installs again when the lock file is newer', async () => {
  await install();
  const later = new Date(Date.now() + 10_000);
  utimesSync(path('package-lock.json'), later, later);
  await install();
  expect(calls()).toHaveLength(2);
});

it('goes on with what imports it', async () => {
  writeFileSync(path('main.mjs'), "import './tools/cli/install.mjs';\nconsole.log('it goes on');");
  expect(await install(path('main.mjs'))).toEqual({ code: 0, output: 'it goes on\n' });
  expect(calls()).toHaveLength(1);
});

it('exits with the code of npm', async () => {
  writeFileSync(path('npm.mjs'), 'process.exit(3);');
  expect((await install()).code).toBe(3);
});
