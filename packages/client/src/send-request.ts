import { ConnectionError, ProblemError } from './problem-error.ts';
import { backoffMs, retryAfterMs } from './retry-wait.ts';

/**
 * When a request may be sent again: `always` if a repetition changes nothing; `refused` only if the response says that
 * nothing was done.
 */
export type Repeat = 'always' | 'refused';

/** How requests are sent. */
export interface SendOptions {
  /** The access token, or a function that returns a valid one. It is called before each attempt. */
  token: string | (() => string | Promise<string>);
  /** How often a request is sent at most. */
  maxAttempts: number;
  /** The longest wait before another attempt; if the server asks for more, the request fails at once. */
  maxWaitMs: number;
  /** How long an attempt may take, up to the end of a JSON response, or the beginning of another one. */
  timeoutMs: number;
  fetch: typeof fetch;
}

/** A request of an operation. */
export interface OutgoingRequest {
  method: string;
  url: string;
  headers: Headers;
  body?: string;
  repeat: Repeat;
  /** Whether the response is returned when its headers have arrived; else its body is read as text. */
  isStreamed: boolean;
  signal?: AbortSignal | undefined;
}

/** A response with a status of success. */
export interface Received {
  response: Response;
  /** The body; empty if the response is streamed. */
  text: string;
}

/** The retryable statuses: too many requests, and a system or a part of it that is unavailable. */
const passingStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Sends a request, and sends it again after a transient error if it may be repeated. It waits as long as `Retry-After`
 * says, else twice as long before each attempt.
 *
 * Errors: ProblemError; ConnectionError; the reason of the signal when it is aborted.
 */
export async function sendRequest(request: OutgoingRequest, options: SendOptions): Promise<Received> {
  for (let attempt = 1; ; attempt += 1) {
    request.signal?.throwIfAborted();
    const error = await tryOnce(request, options);
    if (!(error instanceof Error)) return error;
    const waitMs = waitBefore(attempt, error, request, options);
    if (waitMs === undefined) throw error;
    await wait(waitMs, request.signal);
  }
}

/** Returns the wait before the next attempt; undefined if there is none. */
function waitBefore(
  attempt: number,
  error: Error,
  { repeat }: OutgoingRequest,
  { maxAttempts, maxWaitMs }: SendOptions,
): number | undefined {
  if (attempt >= maxAttempts) return undefined;
  if (error instanceof ProblemError) {
    if (!mayPass(error, repeat)) return undefined;
    const askedMs = retryAfterMs(error.headers.get('retry-after') ?? undefined, Date.now());
    if (askedMs !== undefined) return askedMs > maxWaitMs ? undefined : askedMs;
  } else if (!(error instanceof ConnectionError && repeat === 'always')) return undefined;
  return Math.min(backoffMs(attempt), maxWaitMs);
}

function mayPass({ status, code }: ProblemError, repeat: Repeat): boolean {
  if (repeat === 'refused') return status === 429;
  // The first attempt, which got no response in time, is still running.
  return passingStatuses.has(status) || code === 'idempotency_key_running';
}

async function tryOnce(request: OutgoingRequest, options: SendOptions): Promise<Received | Error> {
  const { token, timeoutMs, fetch: send } = options;
  const headers = new Headers(request.headers);
  headers.set('authorization', `Bearer ${typeof token === 'string' ? token : await token()}`);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new ConnectionError(`no response in ${timeoutMs} ms`)), timeoutMs);
  const signal = request.signal ? AbortSignal.any([request.signal, controller.signal]) : controller.signal;
  const { method, url, body } = request;
  try {
    const response = await send(url, {
      method,
      headers,
      signal,
      redirect: 'error',
      ...(body !== undefined && { body }),
    });
    if (!response.ok) return new ProblemError(response, await response.text());
    return { response, text: request.isStreamed ? '' : await response.text() };
  } catch (error) {
    request.signal?.throwIfAborted();
    if (error instanceof ConnectionError) return error;
    return new ConnectionError(`${method} ${url.split('?')[0]}: no complete response`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Waits. Errors: the reason of the signal when it is aborted. */
export function wait(waitMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, waitMs);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
