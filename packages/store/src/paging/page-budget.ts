import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { byteBudget } from '@ticketing/runtime/byte-budget.ts';
import { responsesBeingSent } from './responses-being-sent.ts';

/** The most bytes of stored documents that one page of results may have. */
export const maxPageBytes = 16 * 1024 * 1024;
/** The most bytes of objects of open shape in a page that is encoded at once: it takes 100 to 200 ms for each MiB. */
export const maxOpenBytesAtOnce = 1024 * 1024;
/** A page of up to this many bytes is not counted: the number of requests in flight bounds such pages. */
export const smallPageBytes = 1024 * 1024;

/** How many bytes of pages a process holds at once. Tests replace some of the limits. */
export interface PageLimits {
  /** All pages from before they are read until their responses are encoded: a page needs several times its bytes then. */
  reading: number;
  /** All encoded responses that are being sent. */
  sending: number;
  /** The bytes of one caller, in both states together. */
  ofCaller: number;
  /** How long a request waits for bytes. */
  waitMs: number;
  /** How long a response may hold bytes: 16 MiB in this time are 280 kB/s. */
  holdMs: number;
}

const defaultLimits: PageLimits = {
  reading: 2 * maxPageBytes,
  sending: 8 * maxPageBytes,
  ofCaller: maxPageBytes,
  waitMs: 5_000,
  holdMs: 60_000,
};

/** A request that reads a page. */
export interface PageRequester {
  signal: AbortSignal;
  /** How long the request waits for bytes, if not as long as others. */
  waitMs?: number;
  /** Calls a function when the response has been encoded; not if there is none, or no longer a client. */
  onEncoded(done: () => void): void;
  /** Calls a function when the response has been sent, or its connection has ended. */
  onEnd(done: () => void): void;
  /** Ends a response that its client does not read. */
  endResponse(): void;
}

/** The bytes of pages of results that a process holds. */
export interface PageBudget {
  /**
   * Takes the bytes of a page for a request, until the request ends. Waits until they are free. Small pages take nothing.
   * A client that reads slowly keeps only its own caller waiting. When the encoded responses of slow clients have too many
   * bytes together, the one that has been sent for the longest is ended.
   *
   * Errors: too_much_at_once, after 5 seconds; the reason of the request's signal.
   */
  take(key: string, bytes: number, request: PageRequester): Promise<void>;
}

/** Opens the budget of a process; `used` returns the bytes that are held. */
export function openPageBudget(
  changedLimits: Partial<PageLimits> = {},
): PageBudget & { used(): { reading: number; sending: number } } {
  const limits = { ...defaultLimits, ...changedLimits };
  const callers = byteBudget({ total: Number.POSITIVE_INFINITY, perKey: limits.ofCaller });
  const reading = byteBudget({ total: limits.reading, perKey: limits.reading });
  const sending = responsesBeingSent(limits.sending);

  /** Takes the bytes of a caller and of all callers. Returns the functions that give them back. */
  async function acquire(key: string, bytes: number, signal: AbortSignal) {
    const ofCaller = await callers.acquire(key, bytes, signal);
    try {
      return { ofCaller, ofReading: await reading.acquire('all', bytes, signal) };
    } catch (error) {
      ofCaller();
      throw error;
    }
  }

  return {
    async take(key, bytes, request) {
      if (bytes <= smallPageBytes) return;
      const { signal, waitMs = limits.waitMs } = request;
      const held = Math.min(bytes, maxPageBytes);
      const giveUp = AbortSignal.timeout(waitMs);
      const { ofCaller, ofReading } = await acquire(key, held, AbortSignal.any([signal, giveUp])).catch(
        (error: unknown) => {
          throw giveUp.aborted && !signal.aborted ? tooMuchAtOnce() : error;
        },
      );
      const giveBack = [ofCaller, ofReading];
      if (signal.aborted) {
        for (const release of giveBack) release();
        throw signal.reason;
      }
      const timer = setTimeout(() => request.endResponse(), limits.holdMs).unref();
      giveBack.push(() => clearTimeout(timer));
      let isEnded = false;
      request.onEncoded(() => {
        if (isEnded) return;
        ofReading();
        giveBack.push(sending.add(held, () => request.endResponse()));
      });
      request.onEnd(() => {
        isEnded = true;
        for (const release of giveBack) release();
      });
    },
    used: () => ({ reading: reading.used(), sending: sending.used() }),
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

/**
 * Takes the bytes of a page for a request before it is read. Returns whether the page needs special care. Units: sizes in
 * bytes, in the order of the page.
 *
 * Errors: page_too_large; those of `PageBudget.take`.
 */
export async function takePage(
  pages: PageBudget,
  key: string,
  sizes: readonly number[],
  request: PageRequester,
): Promise<boolean> {
  requirePageSize(sizes);
  await pages.take(
    key,
    sizes.reduce((sum, size) => sum + size, 0),
    request,
  );
  return isLargePage(sizes);
}

/**
 * Returns how many of the first items have at most `max` bytes together. Units: sizes in bytes, in the order of the
 * page.
 */
export function countThatFits(sizes: readonly number[], max = maxPageBytes): number {
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
