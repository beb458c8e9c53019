import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type Caller, callerKey, isHuman } from '../identity/caller.ts';
import { concurrencyLimiter } from './concurrency-limiter.ts';
import type { RateLimits } from './rate-limits.ts';
import { type WindowCount, windowCounter } from './window-counter.ts';

/** How many requests of one caller may be in flight, so that one that sends slowly does not use all connections. */
const maxInFlightOfPeople = 32;
const maxInFlightOfMachines = 512;

/** Limits the requests of each caller. The counts are those of this process. */
export interface CallerLimits {
  /**
   * Counts a request. `setHeader` receives the headers `ratelimit-…` for its response. Returns the function that ends the
   * request. Errors: rate_limited, too_many_at_once.
   */
  begin(caller: Caller, setHeader: SetHeader): () => void;
  /** Counts further requests that one which has begun stands for. It is not refused for them. */
  countMore(caller: Caller, requests: number, setHeader: SetHeader): void;
}

type SetHeader = (name: string, value: number) => void;

/** Makes the limits. Source: docs/reference/api.md, Limits of use. */
export function callerLimits(rateLimits: RateLimits, now: () => number): CallerLimits {
  const used = windowCounter(now);
  const inFlight = concurrencyLimiter();
  const countAndShow = (caller: Caller, requests: number, setHeader: SetHeader) => {
    const limit = caller.kind === 'service' ? 0 : rateLimits[caller.kind];
    const count = used.count(callerKey(caller), limit, requests);
    setHeader('ratelimit-limit', count.limit);
    setHeader('ratelimit-remaining', count.remaining);
    setHeader('ratelimit-reset', count.resetSeconds);
    return count;
  };
  return {
    begin(caller, setHeader) {
      const count = countAndShow(caller, 1, setHeader);
      if (count.isExceeded) throw rateLimited('This caller has sent too many requests.', count);
      const most = isHuman(caller) ? maxInFlightOfPeople : maxInFlightOfMachines;
      const end = inFlight.acquire(callerKey(caller), most);
      if (!end) throw tooManyAtOnce('This caller has too many requests in flight.');
      return end;
    },
    countMore: (caller, requests, setHeader) => void countAndShow(caller, requests, setHeader),
  };
}

/** Makes the error for a caller or an address that has used up its window. */
export function rateLimited(detail: string, { resetSeconds }: WindowCount): DomainError {
  return new DomainError('resource_exhausted', 'rate_limited', detail, { retryAfterSeconds: resetSeconds });
}

/** Makes the error for one request more in flight than the limit. */
export function tooManyAtOnce(detail: string): DomainError {
  return new DomainError('resource_exhausted', 'too_many_at_once', detail, { retryAfterSeconds: 1 });
}
