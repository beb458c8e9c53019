/** The names of the Connect codes that this system responds with. */
export type ErrorCode =
  | 'invalid_argument'
  | 'out_of_range'
  | 'unauthenticated'
  | 'permission_denied'
  | 'not_found'
  | 'already_exists'
  | 'aborted'
  | 'failed_precondition'
  | 'resource_exhausted'
  | 'unimplemented'
  | 'unavailable'
  | 'deadline_exceeded'
  | 'canceled'
  | 'data_loss'
  | 'unknown'
  | 'internal';

/** One violation in the input: a pointer to the invalid part, a stable code, and a text for people. */
export interface Violation {
  pointer: string;
  code: string;
  detail: string;
}

/**
 * An error that callers of the REST and RPC APIs may see. Any other error becomes an internal error for them.
 *
 * Shape: `code` determines the status; `reason` is stable and becomes the `code` of the problem document; the message
 * is public; `title` is that of the problem document, if it is not the usual one; `cause` is only logged.
 * Source: docs/reference/api.md, Errors.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly reason: string;
  readonly title: string | undefined;
  readonly violations: readonly Violation[];
  readonly retryAfterSeconds: number | undefined;
  /** Whether something may have changed before it; undefined if its code says so. */
  readonly followsChange: boolean | undefined;

  constructor(
    code: ErrorCode,
    reason: string,
    detail: string,
    options: {
      title?: string | undefined;
      violations?: readonly Violation[];
      retryAfterSeconds?: number | undefined;
      cause?: unknown;
      followsChange?: boolean;
    } = {},
  ) {
    super(detail, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.reason = reason;
    this.title = options.title;
    this.violations = options.violations ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.followsChange = options.followsChange;
  }
}

/** Makes the error for invalid input, with all violations. */
export function invalidInput(violations: readonly Violation[]): DomainError {
  const reasons = new Set(violations.map((violation) => violation.code));
  const [only] = reasons;
  const reason = reasons.size === 1 && only !== undefined ? only : 'invalid_input';
  const detail =
    violations.length === 1 && violations[0]
      ? `${violations[0].pointer}: ${violations[0].detail}`
      : `${violations.length} parts of the request are not valid.`;
  return new DomainError('invalid_argument', reason, detail, { violations });
}

/** Makes the error for something that does not exist, or that the caller may not see: `notFound('Ticket')`. */
export function notFound(what: string): DomainError {
  return new DomainError('not_found', `${what.toLowerCase().replaceAll(' ', '_')}_not_found`, `${what} not found`);
}

const codesAfterChange = new Set<string>(['unavailable', 'deadline_exceeded', 'canceled', 'internal', 'unknown']);

/** Copies an error as one that comes before any change, for example of a read that a handler begins with. */
export function beforeChange(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error;
  const { code, reason, message, title, violations, retryAfterSeconds } = error;
  // Another request may have got the same error, after a change.
  return new DomainError(code, reason, message, {
    ...{ title, violations, retryAfterSeconds },
    ...{ cause: error, followsChange: false },
  });
}

/** Whether an error can come after something was changed. Any other one means that nothing was. */
export function mayFollowChange(error: unknown): boolean {
  if (!(error instanceof DomainError)) return true;
  return error.followsChange ?? codesAfterChange.has(error.code);
}
