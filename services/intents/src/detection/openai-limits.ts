import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';
import type { BudgetLimits } from './budget.ts';

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
