import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type SandboxWorker, startWorker, type WorkerLimits } from './sandbox-worker.ts';

/** The limits of the workers, and when they start and end. */
export interface PoolLimits extends WorkerLimits {
  /**
   * How many workers are running after the first run, until all have been idle: missing ones are started before a run
   * needs them. Default 0.
   */
  warmWorkers?: number;
}

/** The worker processes of a sandbox. Each is starting, idle or making a run. */
export class WorkerPool {
  readonly #module: URL;
  readonly #limits: PoolLimits;
  readonly #idle: SandboxWorker[] = [];
  /** All workers that have started. */
  readonly #workers = new Set<SandboxWorker>();
  readonly #starting = new Set<Promise<SandboxWorker>>();
  /** The starting workers that no run waits for. */
  readonly #spare = new Set<Promise<SandboxWorker>>();
  readonly #onSpare: () => void;
  #isClosed = false;

  /** `onSpare` is called when a worker is ready that no run has waited for, or could not be started. */
  constructor(module: URL, limits: PoolLimits, onSpare: () => void) {
    this.#module = module;
    this.#limits = limits;
    this.#onSpare = onSpare;
  }

  /** Whether no worker is idle, and one is starting for the next run. */
  get isPreparing(): boolean {
    return this.#idle.length === 0 && this.#spare.size > 0;
  }

  /** Makes a run with an idle worker or a new one. Errors: those of the worker; sandbox_closed. */
  async run(message: Parameters<SandboxWorker['run']>[0]): Promise<unknown> {
    const worker = await this.#readyWorker();
    try {
      return await worker.run(message);
    } finally {
      if (worker.hasEnded) this.#workers.delete(worker);
      else this.#idle.push(worker);
    }
  }

  /** Starts the warm workers that are missing, and waits until they are ready. */
  async keepWarm(): Promise<void> {
    const { warmWorkers = 0 } = this.#limits;
    const missing = this.#isClosed ? 0 : warmWorkers - this.#workers.size - this.#starting.size;
    await Promise.all(Array.from({ length: Math.max(0, missing) }, () => this.#startSpare()));
  }

  endIdle(): void {
    for (const worker of this.#idle.splice(0)) {
      this.#workers.delete(worker);
      void worker.end(closed());
    }
  }

  /** Ends all workers. A worker that is starting ends as soon as it has started. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#workers].map((worker) => worker.end(closed())));
  }

  async startsHaveEnded(): Promise<void> {
    await Promise.allSettled(this.#starting);
  }

  async #readyWorker(): Promise<SandboxWorker> {
    const waiting = this.#idle.pop();
    // A worker can end while it is idle.
    if (waiting && !waiting.hasEnded) return waiting;
    if (waiting) this.#workers.delete(waiting);
    return this.#startWorker();
  }

  #startWorker(): Promise<SandboxWorker> {
    const started = this.#startUnlessClosed().finally(() => this.#starting.delete(started));
    this.#starting.add(started);
    return started;
  }

  async #startUnlessClosed(): Promise<SandboxWorker> {
    const worker = await startWorker(this.#module, this.#limits);
    if (this.#isClosed) {
      await worker.end(closed());
      throw closed();
    }
    this.#workers.add(worker);
    return worker;
  }

  async #startSpare(): Promise<void> {
    const started = this.#startWorker();
    this.#spare.add(started);
    try {
      this.#idle.push(await started);
    } catch {
      // The next run that needs it starts it again.
    }
    this.#spare.delete(started);
    this.#onSpare();
  }
}

/** Makes the error for a run that a closed sandbox refuses or ends. */
export function closed(): DomainError {
  const detail = 'The service is stopping. Try again later.';
  return new DomainError('unavailable', 'sandbox_closed', detail, { retryAfterSeconds: 1 });
}
