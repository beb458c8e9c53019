import { DomainError } from '@ticketing/errors/domain-error.ts';
import { fairQueue } from '@ticketing/runtime/fair-queue.ts';
import { byteLengthOf } from './byte-length.ts';
import { SandboxError } from './sandbox-error.ts';
import { type SandboxWorker, startWorker, type WorkerLimits } from './sandbox-worker.ts';
import type { RunMessage, SandboxFunctions } from './serve-functions.ts';
import { type ShareLimits, workerShares } from './worker-shares.ts';

/** The limits of a sandbox. */
export interface SandboxLimits extends WorkerLimits, ShareLimits {
  /** The texts and bytes in the result of a run, texts in UTF-8. */
  maxOutputBytes: number;
  /** How many runs may wait for a worker. */
  maxQueued: number;
  /** The texts in the arguments of the runs that wait, in UTF-8. A single run may have more. */
  maxQueuedBytes: number;
  /** How many runs of one caller may wait. */
  maxQueuedPerCaller: number;
  /** The texts in the arguments of the runs of one caller that wait, in UTF-8. A single run may have more. */
  maxQueuedBytesPerCaller: number;
  /** When all workers have been idle for this long, they end. */
  idleMs: number;
  /**
   * How many workers are running after the first run, until all have been idle: missing ones are started before a run
   * needs them. Default 0.
   */
  warmWorkers?: number;
}

/** Processes that run the functions of one module. A worker that exceeds a limit is killed and replaced. */
export interface Sandbox<Functions extends SandboxFunctions> {
  /**
   * Runs a function. Arguments and result are copied. `caller` names the caller that causes the run: the callers whose
   * runs wait are served in turn, and each has a share of the workers and of the queue. Callers with a run that was
   * stopped lately, because of its time or its memory, have a separate queue, and only the workers that others do not
   * need.
   *
   * Errors: SandboxError, if there is no result; DomainError unavailable with Retry-After: `sandbox_busy`, if too many
   * runs wait, of this caller or of all, and `sandbox_closed`; that of an argument that cannot be copied.
   */
  run<Name extends keyof Functions & string>(
    caller: string,
    name: Name,
    ...args: Parameters<Functions[Name]>
  ): Promise<Awaited<ReturnType<Functions[Name]>>>;
  /** Ends all workers. Runs without a result fail with `sandbox_closed`. */
  close(): Promise<void>;
}

interface Job {
  caller: string;
  bytes: number;
  message: Omit<RunMessage, 'endAfterMs'>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

const retryAfterSeconds = 1;

/**
 * Opens a sandbox. `module` calls `serveFunctions`. Its name ends in `.worker.ts`, and it is written as a `new URL` of a
 * relative path in single quotes and of `import.meta.url`, which the build of the services recognises.
 */
export function openSandbox<Functions extends SandboxFunctions>(
  module: URL,
  limits: SandboxLimits,
): Sandbox<Functions> {
  const { maxOutputBytes, idleMs, warmWorkers = 0 } = limits;
  const queueLimits = {
    maxItems: limits.maxQueued,
    maxBytes: limits.maxQueuedBytes,
    maxItemsPerKey: limits.maxQueuedPerCaller,
    maxBytesPerKey: limits.maxQueuedBytesPerCaller,
  };
  const queue = fairQueue<Job>(queueLimits);
  /** The runs of callers with a run that was stopped lately: they take no room from others. */
  const suspectQueue = fairQueue<Job>(queueLimits);
  const idle: SandboxWorker[] = [];
  const workers = new Set<SandboxWorker>();
  /** The workers that are starting, and those of them that no run waits for. */
  const starting = new Set<Promise<SandboxWorker>>();
  const spare = new Set<Promise<SandboxWorker>>();
  const shares = workerShares(limits);
  /** The runs that have a worker, which may still be starting. */
  const running = new Set<Promise<void>>();
  let isClosed = false;
  let idleTimer: NodeJS.Timeout | undefined;

  /** Gives a run to an idle worker, or to a new one, and afterwards those that wait. */
  function start(job: Job): void {
    clearTimeout(idleTimer);
    const release = shares.take(job);
    const run = work(job).then(async () => {
      // The slot is released only when its replacement is ready, so that one caller cannot end all workers in a row.
      await keepWarm();
      running.delete(run);
      release();
      startWaiting();
      if (running.size === 0 && !isClosed) idleTimer = setTimeout(endIdle, idleMs).unref();
    });
    running.add(run);
  }

  /** Whether a run gets a worker now. It waits for a worker that is already starting rather than start another one. */
  function isReady(job: Job): boolean {
    return shares.isFree(job) && (idle.length > 0 || spare.size === 0);
  }

  function startWaiting(): void {
    const take = () => queue.take(isReady) ?? suspectQueue.take(isReady);
    for (let next = take(); next; next = take()) start(next);
  }

  function enqueue(job: Job): boolean {
    return (shares.isSuspect(job.caller) ? suspectQueue : queue).add(job.caller, job.bytes, job);
  }

  /** Remembers a caller whose run was stopped, and has its other runs wait where they take no room from others. */
  function suspect(caller: string): void {
    shares.suspect(caller);
    const isOfCaller = (job: Job) => job.caller === caller;
    for (let job = queue.take(isOfCaller); job; job = queue.take(isOfCaller)) {
      if (!enqueue(job)) job.reject(busyError());
    }
  }

  async function work({ caller, message, resolve, reject }: Job): Promise<void> {
    try {
      const worker = await readyWorker();
      try {
        resolve(await worker.run(message));
      } finally {
        if (worker.hasEnded) workers.delete(worker);
        else idle.push(worker);
      }
    } catch (error) {
      if (error instanceof SandboxError && (error.reason === 'time' || error.reason === 'memory')) suspect(caller);
      reject(error);
    }
  }

  async function readyWorker(): Promise<SandboxWorker> {
    const waiting = idle.pop();
    // A worker can end while it is idle.
    if (waiting && !waiting.hasEnded) return waiting;
    if (waiting) workers.delete(waiting);
    return newWorker();
  }

  function newWorker(): Promise<SandboxWorker> {
    const started = startOpen().finally(() => starting.delete(started));
    starting.add(started);
    return started;
  }

  async function startOpen(): Promise<SandboxWorker> {
    const worker = await startWorker(module, limits);
    if (isClosed) {
      await worker.end(closed());
      throw closed();
    }
    workers.add(worker);
    return worker;
  }

  /** Starts the warm workers that are missing, and waits until they are ready. */
  async function keepWarm(): Promise<void> {
    const missing = isClosed ? 0 : warmWorkers - workers.size - starting.size;
    await Promise.all(Array.from({ length: Math.max(0, missing) }, startSpare));
  }

  async function startSpare(): Promise<void> {
    const started = newWorker();
    spare.add(started);
    try {
      idle.push(await started);
    } catch {
      // The next run that needs it starts it again.
    }
    spare.delete(started);
    startWaiting();
  }

  function endIdle(): void {
    for (const worker of idle.splice(0)) {
      workers.delete(worker);
      void worker.end(closed());
    }
  }

  return {
    run: (caller, name, ...args) =>
      new Promise((resolve, reject) => {
        if (isClosed) throw closed();
        const bytes = byteLengthOf(args);
        const message = { name, args, maxOutputBytes };
        const job = { caller, bytes, message, resolve: resolve as Job['resolve'], reject };
        if (isReady(job)) start(job);
        else if (!enqueue(job)) throw busyError();
      }),
    async close() {
      isClosed = true;
      clearTimeout(idleTimer);
      for (const waiting of [queue, suspectQueue]) {
        for (let job = waiting.take(); job; job = waiting.take()) job.reject(closed());
      }
      await Promise.all([...workers].map((worker) => worker.end(closed())));
      await Promise.all(running);
      await Promise.allSettled(starting);
    },
  };
}

function closed(): DomainError {
  const detail = 'The service is stopping. Try again later.';
  return new DomainError('unavailable', 'sandbox_closed', detail, { retryAfterSeconds });
}

function busyError(): DomainError {
  const detail = 'Too much work of this kind is waiting. Try again later.';
  return new DomainError('unavailable', 'sandbox_busy', detail, { retryAfterSeconds });
}
