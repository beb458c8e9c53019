import type { ResponseSubject } from '@ticketing/store/idempotency/idempotency-store.ts';

/** A request with an `Idempotency-Key`: the client may send it more than once, but its change is made once. */
export interface IdempotentRequest {
  /** The same for every repetition. A handler writes it into every document that it changes, in the same update. */
  id: string;
  /**
   * Returns a number that stays the same for every repetition. It is recorded under `name` before it is used, so that a
   * request that is taken over from a crashed process continues with the number that was chosen first.
   */
  reserve(name: string, choose: () => Promise<number>): Promise<number>;
  /** Returns the number that an earlier attempt of this request has reserved under `name`. */
  reserved(name: string): number | undefined;
  /** Names something that the response describes: when it is erased, the stored response is erased too. */
  addSubject(subject: ResponseSubject): void;
}
