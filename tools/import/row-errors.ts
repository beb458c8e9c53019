/** Ends the work on a row because the user asked to stop. */
export class InterruptedError extends Error {}

/** The server, or the mapping, has rejected a row. The run goes on. */
export class RejectedError extends Error {
  readonly reasons: string[];

  constructor(reasons: string[]) {
    super(reasons.join('; '));
    this.reasons = reasons;
  }
}
