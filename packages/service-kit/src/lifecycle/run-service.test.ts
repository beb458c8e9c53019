import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serviceNamed } from '@ticketing/system/services.ts';
import { afterEach, expect, test } from 'vitest';
import { operationNames } from '../operations/operations.ts';
import { oldestNode, requireNode } from './run-service.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const program = (start: string, code: string) => `
  import { runService } from ${JSON.stringify(join(import.meta.dirname, 'run-service.ts'))};
  const log = { info: ({ reason }) => console.log(reason), error: (_, text) => console.log(text) };
  const operate = async ({ name, key, file }, print) => { ${code} print(name + ' ' + (key ?? file)); return key ? 1 : 0; };
  await runService({ name: 'reporting', start: async () => { ${start} }, operate });
`;

function run(start: string, { operation = '', args = [] }: { operation?: string; args?: string[] } = {}) {
  // The arguments of a program follow its file, which is a module without a name here.
  const code = `process.argv.splice(1, 0, 'program');${program(start, operation)}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code, '--', ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.push(child);
  const printed = { out: '', err: '' };
  child.stdout?.on('data', (chunk) => {
    printed.out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    printed.err += chunk;
  });
  const line = (text: string) =>
    new Promise<void>((resolve) => {
      child.stdout?.on('data', () => {
        if (printed.out.includes(text)) resolve();
      });
    });
  return { child, printed, line };
}

const running = (stop: string) =>
  `setInterval(() => undefined, 1000); setTimeout(() => console.log('running'), 100); return { log, stop: async () => { ${stop} } };`;

test.each(['SIGTERM', 'SIGINT'] as const)('%s stops the service, once', async (signal) => {
  const untilNext = `await new Promise((resolve) => process.once('${signal}', resolve));`;
  const { child, printed, line } = run(running(`console.log('stopping'); ${untilNext} console.log('stopped');`));
  await line('running');
  child.kill(signal);
  await line('stopping');
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(printed.out.match(/stopped/g)).toHaveLength(1);
});

test('the service stops when its parent process has ended', async () => {
  const { child, printed, line } = run(running(`console.log('stopped');`));
  await line('running');
  child.disconnect();
  expect((await once(child, 'exit'))[0]).toBe(0);
  expect(printed.out).toContain('the parent process has exited');
  expect(printed.out).toContain('stopped');
});

test('a set-up ends when it is done', async () => {
  const { child, printed } = run('', { args: ['set-up'] });
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(printed.out).toBe('set-up undefined\n');
});

test('a check of the audit log ends with the result, and so does its export', async () => {
  const verify = run('', { args: ['audit-verify', '12:ab'] });
  expect(await once(verify.child, 'exit')).toEqual([1, null]);
  expect(verify.printed.out).toBe('audit-verify 12:ab\n');
  const exported = run('', { args: ['audit-export'] });
  expect(await once(exported.child, 'exit')).toEqual([0, null]);
});

test.each([[['replay', '--key', '17']], [['replay', '--key=17']], [['replay', '17']]])(
  'an option is given by its name or by its position: %j',
  async (args) => {
    const { child, printed } = run('', { args });
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(printed.out).toBe('replay 17\n');
  },
);

test.each([[['--help']], [['help']]])('%j lists the operations of the service, and carries out none', async (args) => {
  const { child, printed } = run('', { args });
  expect(await once(child, 'exit')).toEqual([0, null]);
  const listed = [...printed.out.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name]) => name);
  expect(listed).toEqual(operationNames(serviceNamed('reporting')));
  expect(listed).toContain('rebuild');
  expect(listed).not.toContain('encrypt-secrets');
});

test.each([[['replay', '--help']], [['replay', '--key', '7', '--help']], [['help', 'replay']]])(
  '%j explains the operation and its options, and does not carry it out',
  async (args) => {
    const { child, printed } = run('', { args });
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(printed.out).toMatch(/^ {2}replay +sends [^\n]*\n {4}--key KEY +only [^\n]*\n$/);
  },
);

test('a ledger is applied from a file or the standard input, or it is said that there is none', async () => {
  for (const [file, read] of [
    ['-', '-'],
    ['ledger.jsonl', 'ledger.jsonl'],
    ['without-ledger', 'undefined'],
  ] as const) {
    const { child, printed } = run('', { args: ['apply-ledger', file, '7'] });
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(printed.out).toBe(`apply-ledger ${read}\n`);
  }
});

test('an operation with arguments that are wrong is not carried out', async () => {
  for (const args of [
    ['setup'],
    ['deletions', 'yesterday'],
    ['ledger'],
    ['apply-ledger'],
    ['apply-ledger', 'file', '-1'],
    ['apply-ledger', 'file', '1000000000'],
    ['replay', '7', '8'],
    ['replay', '--since', '2026-11-22'],
    ['constructor'],
  ]) {
    const { child, printed } = run('', { args });
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(printed).toEqual({
      out: '',
      err: expect.stringMatching(/^[^\n]*( is no |Name the ledger|Unknown option)[^\n]*\n$/),
    });
  }
});

test('a set-up that waits, for example for its database, ends when its parent process has ended', async () => {
  const operation = `console.log('waiting'); await new Promise(() => setInterval(() => undefined, 1_000));`;
  const { child, line } = run('', { operation, args: ['set-up'] });
  await line('waiting');
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([1, null]);
});

test('a start that fails prints the reason and exits with code 1', async () => {
  const { child, printed } = run(`throw new Error('the port is taken');`);
  expect((await once(child, 'exit'))[0]).toBe(1);
  expect(printed.err).toBe('the port is taken\n');
});

test('a stop that fails is logged, and the process still exits', async () => {
  const { child, printed, line } = run(running(`throw new Error('stuck');`));
  await line('running');
  child.kill('SIGTERM');
  expect((await once(child, 'exit'))[0]).toBe(0);
  expect(printed.out).toContain('could not be stopped cleanly');
});

test('a Node that is older than that of the project runs no service', () => {
  const file = join(import.meta.dirname, '..', '..', '..', '..', 'package.json');
  const project = JSON.parse(readFileSync(file, 'utf8'));
  expect(project.devDependencies.node.split('.')[0]).toBe(String(oldestNode));
  expect(() => requireNode('20.20.2')).toThrow('A service needs Node 24 or newer; this is Node 20.20.2');
  for (const version of ['24.0.0', '24.21.0', '100.1.0']) requireNode(version);
});
