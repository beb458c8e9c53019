/** Ends the whole run with one sentence for the user; exit code 1. */
export class StopError extends Error {}

/** Ends the work on a row because the user asked to stop. */
export class InterruptedError extends Error {}

/** Says that the server, or the mapping, does not take a row; the run goes on. */
export class RejectedError extends Error {
  readonly reasons: string[];

  constructor(reasons: string[]) {
    super(reasons.join('; '));
    this.reasons = reasons;
  }
}
