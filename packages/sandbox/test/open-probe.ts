import { openSandbox, type Sandbox, type SandboxLimits } from '../src/sandbox.ts';
import type { ProbeFunctions } from './probe.worker.ts';

export const probe = new URL('./probe.worker.ts', import.meta.url);

/** Opens a sandbox of a module with the functions of the probe, with small limits. */
export function openProbe(limits: Partial<SandboxLimits>, module = probe): Sandbox<ProbeFunctions> {
  return openSandbox<ProbeFunctions>(module, {
    timeoutMs: 10_000,
    maxHeapMb: 64,
    maxOutputBytes: 1000,
    maxWorkers: 1,
    longRunBytes: 1000,
    maxQueued: 10,
    maxQueuedBytes: 1000,
    maxQueuedPerCaller: 10,
    maxQueuedBytesPerCaller: 1000,
    idleMs: 60_000,
    ...limits,
  });
}

/** Whether a process has not ended. */
export function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}
