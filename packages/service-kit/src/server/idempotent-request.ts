import type { ResponseSubject } from '@ticketing/store/idempotency-store.ts';

/** A request that may come more than once, as its `Idempotency-Key` says, and must do its work once. */
export interface IdempotentRequest {
  /** The same for every repetition. What a handler writes, it marks with it in the same update. */
  id: string;
  /**
   * Returns a number that stays the same for every repetition: it is recorded before it is used, so that a request that
   * is taken over from a dead process goes on with the number that was chosen first.
   */
  reserve(name: string, choose: () => Promise<number>): Promise<number>;
  /** Says what the response tells of: the stored response is erased with it. */
  addSubject(subject: ResponseSubject): void;
}
