/** A request that may come more than once and must do its work once. */
export interface IdempotentRequest {
  /** The same for every repetition. What a handler writes, it marks with it in the same update. */
  id: string;
  /**
   * Answers a number that stays the same for every repetition: it is recorded before it is used, so that a request that
   * is taken over from a dead process goes on with the number that was chosen first.
   */
  reserve(name: string, choose: () => Promise<number>): Promise<number>;
  /** Says which ticket the answer tells of: when that is deleted, the answer is erased. */
  about(ticketId: number): void;
}
