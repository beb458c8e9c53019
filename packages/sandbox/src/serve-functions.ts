import { flushCompileCache } from 'node:module';
import { Script } from 'node:vm';
import { measureBytes } from './byte-length.ts';

/**
 * The functions of a worker module. Arguments and results are texts, bytes, numbers, and lists and objects of them; a
 * result may also be a promise of one.
 */
// biome-ignore lint/suspicious/noExplicitAny: the parameters of any function
export type SandboxFunctions = Record<string, (...args: any[]) => unknown>;

/** One call of a function in a worker. */
export interface RunMessage {
  name: string;
  args: readonly unknown[];
  maxOutputBytes: number;
  /** The time after which the worker ends by itself, in case nobody is left to kill it. */
  endAfterMs: number;
}

/** A message of a worker: `ready` once, when its module is loaded; then the outcome of each run. */
export type WorkerMessage = 'ready' | { value: unknown } | { reason: 'output' | 'failed'; message: string };

/** Serves functions in the worker process whose module calls this. The process ends with the one that started it. */
export function serveFunctions(functions: SandboxFunctions): void {
  // A terminal sends these to all processes of a group, but the service decides when its workers end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit());
  process.on('message', async (message: RunMessage) => {
    const overdue = setTimeout(() => process.exit(1), message.endAfterMs);
    send(await withinTime(message.endAfterMs, () => toOutcome(functions, message)));
    clearTimeout(overdue);
  });
  // Node does not write its compile cache when a signal ends it. Written here, it takes no time of a run.
  flushCompileCache();
  send('ready');
}

function send(message: WorkerMessage): void {
  if (!process.send) throw new Error('This module runs in a process of a sandbox only.');
  process.send(message);
}

async function toOutcome(
  functions: SandboxFunctions,
  { name, args, maxOutputBytes }: RunMessage,
): Promise<WorkerMessage> {
  try {
    const run = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (!run) throw new Error(`The worker has no function ${name}.`);
    const value = await run(...args);
    const bytes = measureBytes(value);
    if (bytes > maxOutputBytes) return { reason: 'output', message: `The result of ${name} has ${bytes} bytes.` };
    return { value };
  } catch (error) {
    return { reason: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

const limited = new Script('runInSandbox()');

/** Calls `work`, and ends the process if it does not return in time: only `vm` can stop code that never returns. */
function withinTime<Result>(timeoutMs: number, work: () => Result): Result {
  Object.assign(globalThis, { runInSandbox: work });
  try {
    return limited.runInThisContext({ timeout: timeoutMs }) as Result;
  } catch {
    process.exit(1);
  }
}
