import { setTimeout } from 'node:timers/promises';
import { backOffMs, withJitter } from '@ticketing/runtime/back-off.ts';
import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import {
  BrokenCircuitError,
  BulkheadRejectedError,
  bulkhead,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
  wrap,
} from 'cockatiel';
import { DetectionFailure, type FailureReason, transientReasons } from './provider.ts';

/** The limits of a process at the endpoint of a model. Units: ms. */
export interface OpenaiLimits extends BudgetLimits {
  /** The longest wait of a ticket for the endpoint, including all attempts and the time until others have finished. */
  timeoutMs: number;
  /** The most tickets that are sent to the endpoint at once. */
  maxConcurrent: number;
  /** The most tickets that wait for their turn. */
  maxWaiting: number;
  /** The pause of requests after several failures in a row. */
  pauseMs: number;
}

/** Reads the limits. Source: docs/services/intents.md, Configuration. */
export function readOpenaiLimits(from: ConfigReader): OpenaiLimits {
  return {
    // A ticket that is created waits 10 seconds for its analysis, which is more than this provider.
    timeoutMs: from.integer('OPENAI_TIMEOUT_MS', { default: 8_000, min: 100, max: 120_000 }),
    maxConcurrent: from.integer('OPENAI_CONCURRENCY', { default: 8, min: 1, max: 1_000 }),
    maxWaiting: from.integer('OPENAI_WAITING', { default: 32, min: 0, max: 10_000 }),
    pauseMs: from.integer('OPENAI_PAUSE_MS', { default: 30_000, min: 100, max: 600_000 }),
    requestsPerMinute: from.integer('OPENAI_REQUESTS_PER_MINUTE', { default: 120, min: 1, max: 1_000_000 }),
    tokensPerMinute: from.integer('OPENAI_TOKENS_PER_MINUTE', {
      default: 200_000,
      min: 1_000,
      max: 1_000_000_000,
    }),
  };
}

const failuresToPause = 5;
/**
 * Failures of the endpoint, after which requests are paused. A failure that the text of a ticket can cause is not one
 * of them: otherwise tickets that break an answer would block the model for all other tickets.
 */
const ofEndpoint: readonly FailureReason[] = [...transientReasons, 'timeout', 'denied'];

/** Does work with an endpoint when it is its turn. Errors: DetectionFailure busy, paused; those of the work. */
export type EndpointGuard = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Limits concurrent and waiting work, and pauses after failures. A new `key` resets the failures. */
export function endpointGuards({
  maxConcurrent,
  maxWaiting,
  pauseMs,
}: Pick<OpenaiLimits, 'maxConcurrent' | 'maxWaiting' | 'pauseMs'>): (key: string) => EndpointGuard {
  const places = bulkhead(maxConcurrent, maxWaiting);
  let current: { key: string; guard: EndpointGuard } | undefined;
  return (key) => {
    if (current?.key === key) return current.guard;
    const isOfEndpoint = (error: unknown) => error instanceof DetectionFailure && ofEndpoint.includes(error.reason);
    const breaker = circuitBreaker(handleWhen(isOfEndpoint), {
      halfOpenAfter: pauseMs,
      breaker: new ConsecutiveBreaker(failuresToPause),
    });
    const policy = wrap(places, breaker);
    const guard: EndpointGuard = async (work) => {
      try {
        return await policy.execute(work);
      } catch (error) {
        if (error instanceof BrokenCircuitError) throw new DetectionFailure('paused');
        if (error instanceof BulkheadRejectedError) throw new DetectionFailure('busy');
        throw error;
      }
    };
    current = { key, guard };
    return guard;
  };
}

/** The limits of requests to a model. A token is about three bytes of text. */
export interface BudgetLimits {
  requestsPerMinute: number;
  tokensPerMinute: number;
}

/** The remaining requests and tokens of a minute, for this process. */
export interface DetectionBudget {
  /** Takes one request with its tokens. Returns false, and takes nothing, if either limit would be exceeded. */
  take(tokens: number): boolean;
  /** Takes the tokens that a request used beyond those taken, so that later requests wait for the next minute. */
  takeMore(tokens: number): void;
}

const windowMs = 60_000;

/** Opens a budget. A minute begins with the first request after the last one has ended. */
export function detectionBudget(limits: BudgetLimits, now: () => number): DetectionBudget {
  let window = { startedAt: Number.NEGATIVE_INFINITY, requests: 0, tokens: 0 };
  const current = () => {
    const age = now() - window.startedAt;
    if (age >= windowMs) window = { startedAt: now(), requests: 0, tokens: 0 };
    return window;
  };
  return {
    take(tokens) {
      const used = current();
      if (used.requests + 1 > limits.requestsPerMinute || used.tokens + tokens > limits.tokensPerMinute) return false;
      used.requests += 1;
      used.tokens += tokens;
      return true;
    },
    takeMore(tokens) {
      current().tokens += tokens;
    },
  };
}

const maxAttempts = 3;
const firstWaitMs = 250;
const longestWaitMs = 1_000;

/** When attempts end. Units: ms. */
export interface RetryOptions {
  leftMs(): number;
  random(): number;
  signal: AbortSignal;
}

/** Attempts again after a transient failure, not before the endpoint wants it, and only if there is time for it. */
export async function withRetries<Result>(attempt: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  for (let attempts = 1; ; attempts += 1) {
    options.signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof DetectionFailure) || !transientReasons.includes(error.reason) || attempts === maxAttempts)
        throw error;
      const backOff = backOffMs(attempts - 1, { firstMs: firstWaitMs, longestMs: longestWaitMs });
      const waitMs = Math.max(withJitter(backOff, options.random), error.retryAfterMs ?? 0);
      if (waitMs >= options.leftMs()) throw error;
      await setTimeout(waitMs, undefined, { signal: options.signal });
    }
  }
}
