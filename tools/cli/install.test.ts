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

/** A stub of npm: records its arguments, prints to standard output, takes a moment, and installs nothing. */
const npm = `
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n');
console.log('added 1 package');
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
mkdirSync('node_modules', { recursive: true });
writeFileSync('node_modules/.package-lock.json', '{}');
`;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ticketing-install-test-'));
  mkdirSync(path('tools', 'cli'), { recursive: true });
  copyFileSync(join(import.meta.dirname, 'install.mjs'), path('tools', 'cli', 'install.mjs'));
  writeFileSync(path('package-lock.json'), '{}');
  writeFileSync(path('npm.mjs'), npm);
});

afterEach(() => rmSync(root, { recursive: true }));

async function install(program = path('tools', 'cli', 'install.mjs')): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, npm_execpath: path('npm.mjs') },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { code, output };
}

const calls = () => (existsSync(path('calls')) ? readFileSync(path('calls'), 'utf8').trim().split('\n') : []);

it('installs once when several scripts start at the same time, and prints nothing to standard output', async () => {
  const silent = { code: 0, output: '' };
  expect(await Promise.all([install(), install(), install()])).toEqual([silent, silent, silent]);
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
