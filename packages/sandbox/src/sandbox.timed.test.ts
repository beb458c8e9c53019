import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { it, onTestFinished } from 'vitest';
import type { ProbeFunctions } from '../test/probe.worker.ts';
import { openSandbox } from './sandbox.ts';

it.runIf(process.platform === 'linux')('a run has its time also if others use the processors', async () => {
  const others = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  onTestFinished(() => others.forEach((one) => void one.kill('SIGKILL')));
  const sandbox = openSandbox<ProbeFunctions>(new URL('../test/probe.worker.ts', import.meta.url), {
    timeoutMs: 500,
    maxHeapMb: 64,
    maxOutputBytes: 1000,
    maxWorkers: 1,
    longRunBytes: 1000,
    maxQueued: 10,
    maxQueuedBytes: 1000,
    maxQueuedPerCaller: 10,
    maxQueuedBytesPerCaller: 1000,
    idleMs: 60_000,
  });
  onTestFinished(() => sandbox.close());
  // Beside processes of a higher priority, it gets a small part of a processor.
  await sandbox.run('someone', 'work', 100);
});
