import type { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { addressKey } from '../admission/address-key.ts';
import { windowCounter } from '../admission/window-counter.ts';
import { type Caller, callerKey } from '../identity/caller.ts';

/** A refused request. */
export interface Refusal {
  /** The route or method of the contract, never the address that the client has sent. */
  route: string;
  address: string | undefined;
  /** Undefined before a token was verified. */
  caller: Caller | undefined;
  traceId: string;
}

/** Logs that a request was refused for want of a credential or a right, or beyond a limit of use; other errors are ignored. */
export type LogRefusal = (error: DomainError, refusal: Refusal) => void;

/** How many refusals for one reason are logged of an address, and how many of all together, in a minute. */
const loggedOfAddress = 10;
const loggedTogether = 600;

/**
 * Makes the log of refusals. A flood does not fill the log: the last line before the limit says that further ones of its
 * minute are only counted, by the metrics.
 */
export function refusalLog(log: Logger, now: () => number): LogRefusal {
  const counts = windowCounter(now);
  return (error, { route, address, caller, traceId }) => {
    if (!isRefusal(error)) return;
    const from = addressKey(address);
    const ofAddress = counts.count(`${error.reason} ${from}`, loggedOfAddress);
    if (ofAddress.isExceeded) return;
    const together = counts.count('', loggedTogether);
    if (together.isExceeded) return;
    const isLast = ofAddress.remaining === 0 || together.remaining === 0;
    log.info(
      {
        reason: error.reason,
        route,
        address: from,
        ...(caller && { caller: callerKey(caller) }),
        traceId,
        ...(isLast && { furtherOnesAreCountedOnly: true }),
      },
      'a request was refused',
    );
  };
}

function isRefusal({ code, reason }: DomainError): boolean {
  const isLimit = reason === 'rate_limited' || reason === 'too_many_at_once';
  return code === 'unauthenticated' || code === 'permission_denied' || isLimit;
}
