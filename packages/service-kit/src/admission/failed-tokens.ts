import { DomainError } from '@ticketing/errors/domain-error.ts';
import { addressKey } from './address-key.ts';
import { rateLimited } from './caller-limits.ts';
import { windowCounter } from './window-counter.ts';

/** Limits how many invalid tokens an address may send. The counts are those of this process. */
export interface FailedTokens {
  /**
   * Verifies a token that an address has sent, but none from an address that has sent too many invalid ones in the current
   * minute. Without a limit it returns what `verify` returns. Errors: rate_limited, and those of `verify`.
   */
  guard<Result>(address: string | undefined, verify: () => Result | Promise<Result>): Result | Promise<Result>;
}

/** Makes the limit. Units: `limit` in invalid tokens per address and minute; 0 for no limit. */
export function failedTokens(limit: number, now: () => number): FailedTokens {
  const failed = windowCounter(now);
  const guarded = async <Result>(address: string | undefined, verify: () => Result | Promise<Result>) => {
    const key = addressKey(address);
    const count = failed.peek(key, limit);
    if (count.remaining === 0) throw rateLimited('This address has sent too many invalid tokens.', count);
    try {
      return await verify();
    } catch (error) {
      if (error instanceof DomainError && error.reason === 'invalid_token') failed.count(key, limit);
      throw error;
    }
  };
  return { guard: (address, verify) => (limit === 0 ? verify() : guarded(address, verify)) };
}
