import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { type ByteBudget, byteBudget } from '@ticketing/runtime/byte-budget.ts';

/** The most bytes of stored documents that one page of results may have. */
export const maxPageBytes = 16 * 1024 * 1024;
/** The most bytes of objects of open shape in a page that is encoded at once: it takes 100 to 200 ms for each MiB. */
export const maxOpenBytesAtOnce = 1024 * 1024;
/** A page of up to this many bytes is not counted: the number of requests in flight bounds such pages. */
export const smallPageBytes = 1024 * 1024;

/** The pages that a process holds at once, from before they are read until their responses have been sent. */
const limits = { total: 2 * maxPageBytes, perKey: maxPageBytes };
const maxWaitMs = 5_000;

/** A request that reads a page. */
export interface PageRequester {
  signal: AbortSignal;
  /** Calls a function when the response has been sent, or its connection has ended. */
  onEnd(done: () => void): void;
  /** Ends a response that its client does not read. */
  endResponse(): void;
}

/** How long a response may hold bytes: a client that reads 16 MiB more slowly than 280 kB/s would keep others waiting. */
const maxHoldMs = 60_000;

/** The bytes of pages of results that a process holds. */
export interface PageBudget {
  /**
   * Takes the bytes of a page for a request, until the request ends. Waits until they are free: a page needs several
   * times its bytes while it is read and encoded. Small pages take nothing.
   *
   * Errors: too_much_at_once, after 5 seconds; the reason of the request's signal.
   */
  take(key: string, bytes: number, request: PageRequester): Promise<void>;
}

/** Opens the budget of a process; a caller (`key`) has half of it at most. */
export function openPageBudget(
  budget: ByteBudget = byteBudget(limits),
  waitMs = maxWaitMs,
  holdMs = maxHoldMs,
): PageBudget {
  return {
    async take(key, bytes, request) {
      if (bytes <= smallPageBytes) return;
      const { signal } = request;
      const giveUp = AbortSignal.timeout(waitMs);
      const release = await budget
        .acquire(key, Math.min(bytes, maxPageBytes), AbortSignal.any([signal, giveUp]))
        .catch((error: unknown) => {
          throw giveUp.aborted && !signal.aborted ? tooMuchAtOnce() : error;
        });
      if (signal.aborted) {
        release();
        throw signal.reason;
      }
      const timer = setTimeout(() => request.endResponse(), holdMs).unref();
      request.onEnd(() => {
        clearTimeout(timer);
        release();
      });
    },
  };
}

/**
 * Refuses a page whose items have more than `maxPageBytes` together, or more than `maxOpenBytesAtOnce` of objects of open
 * shape, if their sizes are given. Units: sizes in bytes, in the order of the page.
 *
 * Errors: page_too_large, which names the largest limit with which the page would fit; one item always fits.
 */
export function requirePageSize(sizes: readonly number[], openSizes: readonly number[] = []): void {
  if (sizes.length === 1) return;
  const fits = countThatFits(sizes, maxPageBytes);
  const openFits = countThatFits(openSizes, maxOpenBytesAtOnce);
  if (fits === sizes.length && openFits === openSizes.length) return;
  const isOpen = openFits < Math.min(fits, openSizes.length);
  const limit = Math.max(1, isOpen ? openFits : fits);
  const reason = isOpen
    ? `objects of open shape in the results have more than ${maxOpenBytesAtOnce} bytes together`
    : `the results have more than ${maxPageBytes} bytes together`;
  const detail = `is too large: ${reason}; a limit of ${limit} fits`;
  throw invalidInput([{ pointer: '#/limit', code: 'page_too_large', detail }]);
}

function countThatFits(sizes: readonly number[], max: number): number {
  let left = max;
  const first = sizes.findIndex((size) => {
    left -= size;
    return left < 0;
  });
  return first < 0 ? sizes.length : first;
}

/** Whether a page needs special care, because its items have more than `smallPageBytes` together. */
export function isLargePage(sizes: readonly number[]): boolean {
  return sizes.reduce((sum, size) => sum + size, 0) > smallPageBytes;
}

function tooMuchAtOnce(): DomainError {
  const detail = 'Too many large pages of results are being read at the moment.';
  return new DomainError('unavailable', 'too_much_at_once', detail, { retryAfterSeconds: 2 });
}
