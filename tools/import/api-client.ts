import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiAnswer, type ApiRequest, HttpTransport } from './http-transport.ts';
import { detailOf } from './problem.ts';
import { backoffMs, retryAfterMs } from './retry.ts';
import { InterruptedError, StopError } from './stop-error.ts';

interface ApiClientOptions {
  url: URL;
  token: string;
  connections: number;
  /** Ends waits; requests on their way are let finish. */
  signal: AbortSignal;
  onWait?: (waitMs: number, reason: string) => void;
  maxAttempts?: number;
  timeoutMs?: number;
}

const longestWaitMs = 10 * 60_000;
const busyStatuses = new Set([429, 502, 503, 504]);
const attemptsAfterInternalError = 3;
const brokenConnections = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT_ANSWER']);
const unreachableServers = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
]);

/**
 * Speaks to the REST interface as a patient client.
 *
 * Waits when the server says so, all requests together, and repeats what a broken connection may have lost:
 * every request of the import may be sent twice.
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
   * Answers a success, or a refusal that concerns this request only (400, 409, 413, 422, 500).
   *
   * Errors: StopError when no other request would fare better; InterruptedError.
   */
  async send(request: ApiRequest): Promise<ApiAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      await this.#pause();
      const outcome = await this.#attempt(request);
      if ('status' in outcome && !mayRepeat(outcome.status, attempt)) return this.#judge(request, outcome);
      if (attempt >= this.#maxAttempts) throw new StopError(this.#gaveUp(request, outcome));
      this.#planPause(outcome, attempt);
    }
  }

  close(): void {
    this.#transport.close();
  }

  async #attempt(request: ApiRequest): Promise<ApiAnswer | { broken: string }> {
    try {
      const answer = await this.#transport.send(request);
      this.#wasReached = true;
      return answer;
    } catch (error) {
      const code = codeOf(error);
      if (brokenConnections.has(code) || (this.#wasReached && unreachableServers.has(code))) return { broken: code };
      throw new StopError(
        `Can not reach ${this.#options.url.origin} (${code}). Is the system running, and is --url right?`,
      );
    }
  }

  #judge(request: ApiRequest, answer: ApiAnswer): ApiAnswer {
    const { status } = answer;
    const what = `${request.method} ${request.path.split('?')[0]}`;
    const detail = detailOf(answer);
    const because = detail === '' ? '.' : `: ${detail}`;
    if (status === 401) throw new StopError(`The server does not accept the token (401)${because}`);
    if (status === 403) throw new StopError(`The token has no right to ${what} (403)${because}`);
    if (status < 200 || (status >= 300 && status < 400) || status === 404 || status === 405) {
      throw new StopError(`${what} answers ${status}. Is ${this.#options.url.origin} the address of the system?`);
    }
    return answer;
  }

  #planPause(outcome: ApiAnswer | { broken: string }, attempt: number): void {
    const told = 'status' in outcome ? retryAfterMs(outcome.headers['retry-after'], Date.now()) : undefined;
    if (told !== undefined && told > longestWaitMs) {
      throw new StopError(
        `The server asks to come back in ${Math.ceil(told / 1000)} seconds. Run the same command again then.`,
      );
    }
    const waitMs = told || backoffMs(attempt);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, Date.now() + waitMs);
    this.#options.onWait?.(waitMs, 'status' in outcome ? String(outcome.status) : outcome.broken);
  }

  async #pause(): Promise<void> {
    for (;;) {
      if (this.#options.signal.aborted) throw new InterruptedError('interrupted');
      const waitMs = this.#pausedUntilMs - Date.now();
      if (waitMs <= 0) return;
      // The spread keeps the requests from coming back in the same millisecond.
      await sleep(waitMs + Math.random() * 50, undefined, { signal: this.#options.signal }).catch(() => undefined);
    }
  }

  #gaveUp(request: ApiRequest, outcome: ApiAnswer | { broken: string }): string {
    const last = 'status' in outcome ? `${outcome.status} ${detailOf(outcome)}`.trim() : outcome.broken;
    return `${request.method} ${request.path.split('?')[0]} failed ${this.#maxAttempts} times, the last time with ${last}.`;
  }
}

function mayRepeat(status: number, attempt: number): boolean {
  return busyStatuses.has(status) || (status === 500 && attempt < attemptsAfterInternalError);
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.message : String(error);
}
