import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, vi } from 'vitest';

const { MONGODB_URI: _, ...environment } = process.env;
const root = join(import.meta.dirname, '..', '..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
/** The program of `npm start`, with its options of Node. */
const program = scripts.start.split(' ').slice(1, -1);

/** A system that `npm start` has started. */
export interface StartedProgram {
  child: ChildProcess;
  output: string;
  errorOutput(): string;
  url: string;
}

/** Commands of this repository with a data folder of each test. To be called once in a test file. */
export interface Programs {
  /** The data folder of the current test. */
  data(): string;
  /** Runs a command, which is ended after the test. */
  run(name: string, args?: readonly string[], variables?: Record<string, string>): ChildProcess;
  /** Starts the system, and waits until it has printed that it is ready. */
  start(...args: string[]): Promise<StartedProgram>;
}

export function openPrograms(): Programs {
  let data: string;
  const started: ChildProcess[] = [];
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'ticketing-start-test-'));
  });
  afterEach(async () => {
    for (const child of started.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    // After a kill the store's process ends a moment later, and writes to the folder until then.
    rmSync(data, { recursive: true, maxRetries: 20, retryDelay: 100 });
  });
  const run: Programs['run'] = (name, args = [], variables = {}) => {
    const child = spawn(process.execPath, [...program, name, '--data', data, ...args], {
      cwd: root,
      env: { ...environment, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.push(child);
    return child;
  };
  return { data: () => data, run, start: (...args) => untilPrinted(run('start', ['--port', '0', ...args])) };
}

async function untilPrinted(child: ChildProcess): Promise<StartedProgram> {
  let output = '';
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    errors += part;
  });
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    output += part;
  });
  await vi.waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`it has ended: ${errors}`);
      expect(output).toMatch(/^ready \S+\n$/m);
    },
    { timeout: 120_000 },
  );
  return { child, output, errorOutput: () => errors, url: /^ready (\S+)$/m.exec(output)?.[1] ?? '' };
}

/** Waits until a command ends. */
export async function outcome(
  child: ChildProcess,
): Promise<{ code: number | null; out: string | null; error: string | null }> {
  const none = { stdout: null, stderr: null };
  const { stdout, stderr } = child.stdout && child.stderr ? child : none;
  const [[code], out, error] = await Promise.all([once(child, 'exit'), stdout && text(stdout), stderr && text(stderr)]);
  return { code, out, error };
}

/** Whether a process has not ended. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The processes that a process has started. */
export function findChildren(pid: number | undefined): { pid: number; args: string }[] {
  return execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => ({ pid: Number.parseInt(line, 10), args: line }));
}
