import { openSandbox } from '../src/sandbox.ts';
import type { ProbeFunctions } from './probe.worker.ts';

// Opens a sandbox, sends the id of its worker's process, and leaves the worker idle or in a run that never ends.
const sandbox = openSandbox<ProbeFunctions>(new URL('./probe.worker.ts', import.meta.url), {
  timeoutMs: 200,
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
const workerId = await sandbox.run('someone', 'processId');
if (process.argv[2] === 'spin') void sandbox.run('someone', 'spin');
process.send?.(workerId);
