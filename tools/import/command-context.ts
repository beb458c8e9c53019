import { isAbsolute, join } from 'node:path';
import { processStreams, type Streams } from '../cli/command.ts';

/** The parts of the process that a command needs. */
export interface CommandContext {
  print: (text: string) => void;
  isTerminal: boolean;
  /** The folder that relative paths start from. */
  folder: string;
  /** Aborted when the user asks to stop. */
  signal: AbortSignal;
}

/** Runs a command that the user can interrupt. Returns its exit code. */
export async function withContext(
  { env, print }: Streams,
  run: (context: CommandContext) => Promise<number>,
): Promise<number> {
  const signals = watchSignals();
  const isTerminal = print === processStreams.print && process.stdout.isTTY;
  try {
    return await run({ print, isTerminal, folder: callersFolder(env), signal: signals.signal });
  } finally {
    signals.close();
  }
}

/** A path as the user means it. */
export function pathFrom(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}

/** The folder that relative paths start from: npm runs scripts in the project folder, wherever it was called. */
function callersFolder(env: NodeJS.ProcessEnv): string {
  return /^(import|ai)/.test(env.npm_lifecycle_event ?? '') && env.INIT_CWD ? env.INIT_CWD : process.cwd();
}

function watchSignals(): { signal: AbortSignal; close: () => void } {
  const controller = new AbortController();
  let firstMs: number | undefined;
  const stop = (): void => {
    firstMs ??= Date.now();
    controller.abort();
    // The terminal and npm both pass on the same Ctrl-C. Only a later one asks to end at once.
    if (Date.now() - firstMs > 1000) process.exit(130);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return { signal: controller.signal, close: () => process.off('SIGINT', stop).off('SIGTERM', stop) };
}
