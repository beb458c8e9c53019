/**
 * Runs a command as `npm run` starts it, on a fresh clone too: installs what is missing, and goes on in the Node of
 * package.json, with the options of Node that this process has. Needs only Node 20 itself.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './install.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

if (process.versions.node === devDependencies.node) {
  // Node compiles only sources that have changed. The variable is for the processes that the command starts.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'node');
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  await import('./main.ts');
} else {
  const node = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  child.on('error', (error) => {
    process.stderr.write(`Node ${devDependencies.node} could not be run: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code) => process.exit(code ?? 1));
  // A terminal sends SIGINT to the child too.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
}
