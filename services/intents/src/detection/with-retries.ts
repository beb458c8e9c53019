import { setTimeout } from 'node:timers/promises';
import { DetectionFailure, transientReasons } from './failure.ts';

const maxAttempts = 3;
const firstWaitMs = 250;

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
      const waitMs = Math.max(firstWaitMs * 2 ** (attempts - 1) * (0.5 + options.random()), error.retryAfterMs ?? 0);
      if (waitMs >= options.leftMs()) throw error;
      await setTimeout(waitMs, undefined, { signal: options.signal });
    }
  }
}
