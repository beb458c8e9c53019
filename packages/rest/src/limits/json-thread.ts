import { setImmediate } from 'node:timers';
import { Worker } from 'node:worker_threads';
import { DomainError, type ErrorCode, type Violation } from '@ticketing/errors/domain-error.ts';
import { fairQueue } from '@ticketing/runtime/fair-queue.ts';
import { bodiesInFlightReason } from './body-headers.ts';
import type { ParsedJson } from './parse-json.ts';

/** A thread that reads and writes JSON, one text after the other. Callers whose texts wait are served in turn. */
export interface JsonThread {
  /**
   * Parses a body with `parseJson`. The bytes are moved to the thread, and cannot be read afterwards.
   *
   * Errors: those of `parseJson`; unavailable with Retry-After: `json_crashed`, `json_closed`; `bodies_in_flight`, if
   * more bytes wait than bodies may be in flight, which happens only if clients do not wait for their responses.
   */
  parse(caller: string, body: Uint8Array): Promise<ParsedJson>;
  /** Checks a body as `parse` does, and gives it back without its value. The given bytes cannot be read afterwards. */
  check(caller: string, body: Uint8Array): Promise<{ body: Uint8Array; violations: readonly Violation[] }>;
  /** Writes a value as JSON in UTF-8. Errors: `json_crashed`, `json_closed`; an Error, if the value cannot be copied. */
  write(caller: string, value: unknown): Promise<Uint8Array>;
  /** Ends the thread. Work without a result fails with `json_closed`. */
  close(): Promise<void>;
}

/** How a thread is opened. Tests replace the module and the times. */
export interface JsonThreadOptions {
  /** The most bytes of bodies that wait, of all callers and of one. A single body may have more. */
  maxQueuedBytes: number;
  maxQueuedBytesPerCaller: number;
  module?: URL;
  /** The time of one text, which includes the start of the thread. */
  timeoutMs?: number;
  /** When nothing was done for this long, the thread ends, and with it the memory of the texts that it has read. */
  idleMs?: number;
}

/** One text for the thread. */
export type JsonJob =
  | { kind: 'parse'; body: Uint8Array }
  | { kind: 'check'; body: Uint8Array }
  | { kind: 'write'; value: unknown };

/** The result of a job: a value, the refusal of a body, or a failure of the thread. */
export type JsonOutcome =
  | { value: unknown }
  | { refused: { code: ErrorCode; reason: string; message: string; violations: readonly Violation[] } }
  | { failed: string };

interface Pending {
  job: JsonJob;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Opens the thread. It is started when it is first needed, and again after a crash; it does not keep a process running. */
export function openJsonThread(options: JsonThreadOptions): JsonThread {
  const { module = new URL('./json.worker.ts', import.meta.url), timeoutMs = 15_000, idleMs = 30_000 } = options;
  const queue = fairQueue<Pending>({
    maxItems: Number.POSITIVE_INFINITY,
    maxItemsPerKey: Number.POSITIVE_INFINITY,
    maxBytes: options.maxQueuedBytes,
    maxBytesPerKey: options.maxQueuedBytesPerCaller,
  });
  let worker: Worker | undefined;
  let current: { pending: Pending; timer: NodeJS.Timeout } | undefined;
  /** Whether the thread has a job, or gets the next one in a moment. */
  let isBusy = false;
  let idleTimer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function add(caller: string, bytes: number, job: JsonJob): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (isClosed) throw closed();
      const pending = { job, resolve, reject };
      if (!isBusy) start(pending);
      else if (!queue.add(caller, bytes, pending)) throw tooManyBytes();
    });
  }

  function start(pending: Pending): void {
    isBusy = true;
    clearTimeout(idleTimer);
    worker ??= startWorker();
    const thread = worker;
    const timer = setTimeout(() => fail(thread, new Error(`no result within ${timeoutMs} ms`)), timeoutMs);
    current = { pending, timer };
    try {
      thread.postMessage(pending.job, ownBytes(pending.job));
    } catch (error) {
      settle(({ reject }) => reject(error));
    }
  }

  /** Ends the job that the thread has. The next one is given to it in another turn: copying both could take long. */
  function settle(use: (pending: Pending) => void): void {
    if (!current) return;
    const { pending, timer } = current;
    current = undefined;
    clearTimeout(timer);
    use(pending);
    setImmediate(() => {
      isBusy = false;
      const next = queue.take();
      if (next) start(next);
      else if (!isClosed) idleTimer = setTimeout(endIdle, idleMs).unref();
    });
  }

  function startWorker(): Worker {
    const thread = new Worker(module, { name: 'json', env: {}, execArgv: [] });
    thread.unref();
    thread.on('message', (outcome: JsonOutcome) =>
      settle(({ resolve, reject }) => {
        if ('value' in outcome) resolve(outcome.value);
        else reject('refused' in outcome ? refusal(outcome.refused) : crashed(new Error(outcome.failed)));
      }),
    );
    thread.on('messageerror', (error) => fail(thread, error));
    thread.on('error', (error) => fail(thread, error));
    thread.on('exit', (code) => fail(thread, new Error(`it ended with ${code}`)));
    return thread;
  }

  /** Replaces a thread that has crashed or does not respond. */
  function fail(thread: Worker, cause: unknown): void {
    if (worker !== thread) return;
    worker = undefined;
    void thread.terminate();
    settle(({ reject }) => reject(crashed(cause)));
  }

  async function endThread(): Promise<void> {
    const thread = worker;
    worker = undefined;
    await thread?.terminate();
  }

  function endIdle(): void {
    void endThread();
  }

  return {
    parse: (caller, body) => add(caller, body.length, { kind: 'parse', body }) as Promise<ParsedJson>,
    check: (caller, body) =>
      add(caller, body.length, { kind: 'check', body }) as Promise<{ body: Uint8Array; violations: Violation[] }>,
    // Values that wait are in memory anyway, and bounded by the limits of responses.
    write: (caller, value) => add(caller, 0, { kind: 'write', value }) as Promise<Uint8Array>,
    async close() {
      isClosed = true;
      clearTimeout(idleTimer);
      for (let pending = queue.take(); pending; pending = queue.take()) pending.reject(closed());
      settle(({ reject }) => reject(closed()));
      await endThread();
    },
  };
}

/** Returns the buffer of a body, if nothing else is in it, so that it is moved instead of copied. */
function ownBytes(job: JsonJob): ArrayBuffer[] {
  if (job.kind === 'write') return [];
  const { buffer, byteLength } = job.body;
  // A part of a buffer would be copied with all the rest.
  if (buffer.byteLength !== byteLength) job.body = Uint8Array.prototype.slice.call(job.body);
  return job.body.buffer instanceof ArrayBuffer ? [job.body.buffer] : [];
}

function refusal({ code, reason, message, violations }: Extract<JsonOutcome, { refused: unknown }>['refused']) {
  return new DomainError(code, reason, message, { violations });
}

function crashed(cause: unknown): DomainError {
  const detail = 'The JSON could not be processed. Try again later.';
  return new DomainError('unavailable', 'json_crashed', detail, { retryAfterSeconds: 1, cause });
}

function closed(): DomainError {
  const detail = 'The service is stopping. Try again later.';
  return new DomainError('unavailable', 'json_closed', detail, { retryAfterSeconds: 1 });
}

function tooManyBytes(): DomainError {
  const detail = 'The bodies that wait to be parsed are larger than this process may hold.';
  return new DomainError('unavailable', bodiesInFlightReason, detail, { retryAfterSeconds: 1 });
}
