import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs, retryAfterMs } from '../../packages/client/src/retry-wait.ts';
import { UsageError } from '../cli/command.ts';
import { type ApiRequest, type ApiResponse, HttpTransport } from './http-transport.ts';
import { describeResponse } from './problem.ts';
import { InterruptedError } from './row-errors.ts';

interface ApiClientOptions {
  url: URL;
  token: string;
  connections: number;
  /** When it aborts, waits end; requests in flight are completed. */
  signal: AbortSignal;
  onWait?: (waitMs: number, reason: string) => void;
  maxAttempts?: number;
  timeoutMs?: number;
}

const longestWaitMs = 10 * 60_000;
const busyStatuses = new Set([429, 502, 503, 504]);
const attemptsAfterInternalError = 3;
const brokenConnections = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT_RESPONSE']);
const unreachableServers = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
]);

/**
 * A client of the REST API that retries. When the server asks for a pause, all requests wait. A request whose
 * connection broke is sent again, so every request of the import must be safe to send twice.
 */
export class ApiClient {
  readonly #options: ApiClientOptions;
  readonly #transport: HttpTransport;
  readonly #maxAttempts: number;
  #pausedUntilMs = 0;
  #wasReached = false;

  constructor(options: ApiClientOptions) {
    this.#options = options;
    this.#maxAttempts = options.maxAttempts ?? 8;
    this.#transport = new HttpTransport(options.url, options.token, options.connections, options.timeoutMs ?? 60_000);
  }

  /**
   * Sends a request. Returns the response if it is a success, or an error that concerns this request only (400, 409,
   * 413, 422, 500; 404 if the request may be about something that is missing).
   *
   * Errors: UsageError if every other request would fail too; InterruptedError.
   */
  async send(request: ApiRequest): Promise<ApiResponse> {
    for (let attempt = 1; ; attempt += 1) {
      await this.#pause();
      const outcome = await this.#attempt(request);
      if ('status' in outcome && !mayRepeat(outcome.status, attempt)) return this.#judge(request, outcome);
      if (attempt >= this.#maxAttempts) throw new UsageError(this.#gaveUp(request, outcome));
      this.#planPause(outcome, attempt);
    }
  }

  close(): void {
    this.#transport.close();
  }

  async #attempt(request: ApiRequest): Promise<ApiResponse | { broken: string }> {
    try {
      const response = await this.#transport.send(request);
      this.#wasReached = true;
      return response;
    } catch (error) {
      const code = readCode(error);
      if (brokenConnections.has(code) || (this.#wasReached && unreachableServers.has(code))) return { broken: code };
      throw new UsageError(
        `Cannot reach ${this.#options.url.origin} (${code}). Is the system running, and is --url right?`,
      );
    }
  }

  #judge(request: ApiRequest, response: ApiResponse): ApiResponse {
    const { status } = response;
    const what = `${request.method} ${request.path.split('?')[0]}`;
    const detail = describeResponse(response);
    const because = detail === '' ? '.' : `: ${detail}`;
    if (status === 401) throw new UsageError(`The server does not accept the token (401)${because}`);
    if (status === 403) throw new UsageError(`The token has no right to ${what} (403)${because}`);
    if (
      status < 200 ||
      (status >= 300 && status < 400) ||
      (status === 404 && !request.mayBeMissing) ||
      status === 405
    ) {
      throw new UsageError(
        `${what} responds with ${status}. Is ${this.#options.url.origin} the address of the system?`,
      );
    }
    return response;
  }

  #planPause(outcome: ApiResponse | { broken: string }, attempt: number): void {
    const askedMs = 'status' in outcome ? retryAfterMs(outcome.headers['retry-after'], Date.now()) : undefined;
    if (askedMs !== undefined && askedMs > longestWaitMs) {
      throw new UsageError(
        `The server asks to come back in ${Math.ceil(askedMs / 1000)} seconds. Run the same command again after that.`,
      );
    }
    const waitMs = askedMs || backoffMs(attempt);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, Date.now() + waitMs);
    this.#options.onWait?.(waitMs, 'status' in outcome ? String(outcome.status) : outcome.broken);
  }

  async #pause(): Promise<void> {
    for (;;) {
      if (this.#options.signal.aborted) throw new InterruptedError('interrupted');
      const waitMs = this.#pausedUntilMs - Date.now();
      if (waitMs <= 0) return;
      // A random part keeps the waiting requests from being sent in the same millisecond.
      await sleep(waitMs + Math.random() * 50, undefined, { signal: this.#options.signal }).catch(() => undefined);
    }
  }

  #gaveUp(request: ApiRequest, outcome: ApiResponse | { broken: string }): string {
    const last = 'status' in outcome ? `${outcome.status} ${describeResponse(outcome)}`.trim() : outcome.broken;
    return `${request.method} ${request.path.split('?')[0]} failed ${this.#maxAttempts} times, the last time with ${last}.`;
  }
}

function mayRepeat(status: number, attempt: number): boolean {
  return busyStatuses.has(status) || (status === 500 && attempt < attemptsAfterInternalError);
}

function readCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.message : String(error);
}
