import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type FairQueue, fairQueue } from '@ticketing/runtime/fair-queue.ts';
import { measureBytes } from './byte-length.ts';
import { SandboxError } from './sandbox-error.ts';
import type { RunMessage, SandboxFunctions } from './serve-functions.ts';
import { closed, type PoolLimits, WorkerPool } from './worker-pool.ts';
import { type ShareLimits, type WorkerShares, workerShares } from './worker-shares.ts';

/** The limits of a sandbox. */
export interface SandboxLimits extends PoolLimits, ShareLimits {
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

/**
 * Opens a sandbox. `module` calls `serveFunctions`. Its name ends in `.worker.ts`, and it is written as a `new URL` of a
 * relative path in single quotes and of `import.meta.url`, which the build of the services recognises.
 */
export function openSandbox<Functions extends SandboxFunctions>(
  module: URL,
  limits: SandboxLimits,
): Sandbox<Functions> {
  const runs = new RunQueue(module, limits);
  const { maxOutputBytes } = limits;
  return {
    run: (caller, name, ...args) =>
      new Promise((resolve, reject) => {
        const message = { name, args, maxOutputBytes };
        runs.add({ caller, bytes: measureBytes(args), message, resolve: resolve as Job['resolve'], reject });
      }),
    close: () => runs.close(),
  };
}

/**
 * The runs of a sandbox. A run waits in one of the two queues, then it is running, which includes the start of its worker
 * and afterwards that of a replacement.
 */
class RunQueue {
  readonly #pool: WorkerPool;
  readonly #shares: WorkerShares;
  readonly #idleMs: number;
  readonly #queue: FairQueue<Job>;
  /** The runs of callers with a run that was stopped lately: they take no room from others. */
  readonly #suspectQueue: FairQueue<Job>;
  readonly #running = new Set<Promise<void>>();
  #idleTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(module: URL, limits: SandboxLimits) {
    this.#pool = new WorkerPool(module, limits, () => this.#startWaiting());
    this.#shares = workerShares(limits);
    this.#idleMs = limits.idleMs;
    const queueLimits = {
      maxItems: limits.maxQueued,
      maxBytes: limits.maxQueuedBytes,
      maxItemsPerKey: limits.maxQueuedPerCaller,
      maxBytesPerKey: limits.maxQueuedBytesPerCaller,
    };
    this.#queue = fairQueue<Job>(queueLimits);
    this.#suspectQueue = fairQueue<Job>(queueLimits);
  }

  /** Starts a run, or adds it to a queue. Errors: sandbox_closed, sandbox_busy. */
  add(job: Job): void {
    if (this.#isClosed) throw closed();
    if (this.#isReady(job)) this.#start(job);
    else if (!this.#enqueue(job)) throw busyError();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    for (const waiting of [this.#queue, this.#suspectQueue]) {
      for (let job = waiting.take(); job; job = waiting.take()) job.reject(closed());
    }
    await this.#pool.close();
    await Promise.all(this.#running);
    await this.#pool.startsHaveEnded();
  }

  /** Whether a run gets a worker now. It waits for a worker that is already starting rather than start another one. */
  #isReady(job: Job): boolean {
    return this.#shares.isFree(job) && !this.#pool.isPreparing;
  }

  /** Makes a run, and afterwards those that wait. */
  #start(job: Job): void {
    clearTimeout(this.#idleTimer);
    const release = this.#shares.take(job);
    const run = this.#make(job).then(async () => {
      // The slot is released only when its replacement is ready, so that one caller cannot end all workers in a row.
      await this.#pool.keepWarm();
      this.#running.delete(run);
      release();
      this.#startWaiting();
      if (this.#running.size > 0 || this.#isClosed) return;
      this.#idleTimer = setTimeout(() => this.#pool.endIdle(), this.#idleMs).unref();
    });
    this.#running.add(run);
  }

  async #make({ caller, message, resolve, reject }: Job): Promise<void> {
    try {
      resolve(await this.#pool.run(message));
    } catch (error) {
      if (error instanceof SandboxError && (error.reason === 'time' || error.reason === 'memory')) {
        this.#suspect(caller);
      }
      reject(error);
    }
  }

  #startWaiting(): void {
    const isReady = (job: Job) => this.#isReady(job);
    const take = () => this.#queue.take(isReady) ?? this.#suspectQueue.take(isReady);
    for (let next = take(); next; next = take()) this.#start(next);
  }

  #enqueue(job: Job): boolean {
    const queue = this.#shares.isSuspect(job.caller) ? this.#suspectQueue : this.#queue;
    return queue.add(job.caller, job.bytes, job);
  }

  /** Remembers a caller whose run was stopped, and has its other runs wait where they take no room from others. */
  #suspect(caller: string): void {
    this.#shares.suspect(caller);
    const isOfCaller = (job: Job) => job.caller === caller;
    for (let job = this.#queue.take(isOfCaller); job; job = this.#queue.take(isOfCaller)) {
      if (!this.#enqueue(job)) job.reject(busyError());
    }
  }
}

function busyError(): DomainError {
  const detail = 'Too much work of this kind is waiting. Try again later.';
  return new DomainError('unavailable', 'sandbox_busy', detail, { retryAfterSeconds: 1 });
}
