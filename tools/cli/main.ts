import type { Command } from './command.ts';

/** The commands of this repository, by their names in package.json. A command loads only what it needs. */
const commands: Readonly<Record<string, () => Promise<{ command: Command }>>> = {
  start: () => import('./start.ts'),
  check: () => import('./check.ts'),
  traces: () => import('./traces.ts'),
  generate: () => import('./generate.ts'),
  gate: () => import('./gate.ts'),
  accept: () => import('./accept.ts'),
  smoke: () => import('./smoke.ts'),
  'docs:check': () => import('./docs-check.ts'),
  token: () => import('./token.ts'),
  sbom: () => import('./sbom.ts'),
  images: () => import('./images.ts'),
  'compose:init': () => import('./compose-init.ts'),
  secrets: () => import('./secrets.ts'),
  build: () => import('./build.ts'),
  'build:client': () => import('./build-client.ts'),
  import: () => import('./import.ts'),
  'import:customers': () => import('./import-customers.ts'),
  'import:mail': () => import('./import-mail.ts'),
  'import:knowledge': () => import('./import-knowledge.ts'),
  ai: () => import('./ai.ts'),
  demo: () => import('./demo.ts'),
  events: () => import('./events.ts'),
  doctor: () => import('./doctor.ts'),
  audit: () => import('./audit.ts'),
  'webhook:listen': () => import('./webhook-listen.ts'),
  faults: () => import('./faults.ts'),
  'faults:start': () => import('../faults/replicated-starter.ts'),
  rolling: () => import('./rolling.ts'),
  backup: () => import('./backup.ts'),
  restore: () => import('./restore.ts'),
  capacity: () => import('./capacity.ts'),
  measures: () => import('../measures/measures.ts'),
  bench: () => import('../../bench/bench.ts'),
  charts: () => import('../../bench/charts.ts'),
};

const [name = '', ...args] = process.argv.slice(2);
const load = commands[name];
if (load === undefined) {
  process.stderr.write(`There is no command "${name}". The commands are: ${Object.keys(commands).join(', ')}.\n`);
  process.exit(1);
}
const { command } = await load();
const code = await command(args);
// A command that has failed may have left something open. One that has not may go on, as the system that it has started.
if (code !== 0) process.exit(code);
