import {
  BrokenCircuitError,
  BulkheadRejectedError,
  bulkhead,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
  wrap,
} from 'cockatiel';
import { DetectionFailure, type FailureReason, transientReasons } from './failure.ts';
import type { OpenaiLimits } from './openai-limits.ts';

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
