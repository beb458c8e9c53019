import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import type { KubernetesObject } from '../../tools/k8s/read-manifests.ts';

/** The output of a command. */
export interface Printed {
  stdout: string;
  /** Warnings of the API server are here. */
  stderr: string;
}

/** Runs kubectl. Errors: an exit code other than 0, with what was printed. */
export async function kubectl(...args: string[]): Promise<Printed> {
  return await promisify(execFile)('kubectl', args, { maxBuffer: 64 * 1024 * 1024, timeout: 120_000 });
}

/** The objects of a kind in a namespace, as the API server has them. */
export async function readObjects(namespace: string, kind: string): Promise<LiveObject[]> {
  const { stdout } = await kubectl('get', kind, '--namespace', namespace, '--output', 'json');
  const { items } = JSON.parse(stdout) as { items: LiveObject[] };
  return items;
}

/** An object with its state. */
export interface LiveObject extends KubernetesObject {
  // biome-ignore lint/suspicious/noExplicitAny: each kind has a different status.
  status?: any;
}

/** A running watch, with the lines that it has printed. */
export interface Watch {
  lines: string[];
  /** Ends the watch. */
  stop(): void;
}

/** Watches the objects of a kind, from their present state on: a line for each change, with the values of these paths. */
export function watch(namespace: string, kind: string, paths: readonly string[]): Watch {
  const template = `${paths.map((path) => `{${path}}`).join(' ')}{"\\n"}`;
  const args = ['get', kind, '--namespace', namespace, '--watch', '--output', `jsonpath=${template}`];
  const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines: string[] = [];
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const parts = `${rest}${chunk.toString()}`.split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
  });
  return { lines, stop: () => child.kill() };
}
