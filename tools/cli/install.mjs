/**
 * Installs what package-lock.json names, if it is not installed yet. It runs before everything that needs
 * dependencies, so it has none itself and needs only Node 20. If several run at once, one installs and the others wait.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const lock = join(tmpdir(), `ticketing-install-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`);
const owner = join(lock, 'pid');

if (!isInstalled()) {
  await takeLock();
  const releaseLock = () => rmSync(lock, { recursive: true, force: true });
  // `finally` would not run if a signal that stops npm ends this process too.
  process.once('exit', releaseLock);
  const code = isInstalled() ? 0 : install();
  if (code !== 0) process.exit(code);
  process.off('exit', releaseLock);
  releaseLock();
}

function isInstalled() {
  const installedAt = changedAt(join(root, 'node_modules', '.package-lock.json'));
  return installedAt !== undefined && installedAt >= (changedAt(join(root, 'package-lock.json')) ?? 0);
}

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function install() {
  process.stderr.write('Installing what package-lock.json names; this takes about half a minute.\n');
  const npm = process.env.npm_execpath;
  const [command, first] = npm ? [process.execPath, [npm]] : ['npm', []];
  const { status, error } = spawnSync(command, [...first, 'ci', '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: root,
    // Standard output belongs to the script that follows: `npm run token` prints a token and nothing else.
    stdio: ['inherit', 2, 2],
  });
  if (error) process.stderr.write(`npm could not be run: ${error.message}\n`);
  return status ?? 1;
}

async function takeLock() {
  for (;;) {
    try {
      mkdirSync(lock);
      writeFileSync(owner, String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isAbandoned()) removeAbandoned();
    else await wait(200);
  }
}

/**
 * Renames the lock before it is removed. If several processes found it abandoned, the rename succeeds in one of them, and
 * none removes a lock that was made since.
 */
function removeAbandoned() {
  const moved = `${lock}-${process.pid}`;
  try {
    renameSync(lock, moved);
    rmSync(moved, { recursive: true, force: true });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

function isAbandoned() {
  try {
    process.kill(Number(readFileSync(owner, 'utf8')), 0);
    return false;
  } catch (error) {
    if (error.code === 'ESRCH') return true;
    // The owner has made the folder, and has not written its process id yet.
    return error.code === 'ENOENT' && Date.now() - (changedAt(lock) ?? Date.now()) > 2000;
  }
}
