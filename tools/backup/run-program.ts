import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { UsageError } from '../cli/command.ts';

/** The exit code of a program, its standard output, and both of its outputs. */
export interface ProgramResult {
  code: number | null;
  printed: string;
  output: string;
}

/**
 * Runs the program of a service by a command of the shell, in which `{service}` stands for its name.
 *
 * Errors: UsageError, for a command without `{service}`.
 */
export async function runProgram(command: string, service: string, args: string, input = ''): Promise<ProgramResult> {
  if (!command.includes('{service}')) throw new UsageError('The command of --exec has no {service}.');
  const child = spawn('sh', ['-c', `${command.replaceAll('{service}', service)} ${args}`]);
  // A program that has ended without reading its input is reported by its exit code.
  child.stdin.on('error', () => undefined).end(input);
  const [printed, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, printed, output: printed + errors };
}
