import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { SandboxError } from './sandbox-error.ts';

const maxAttempts = 2;

/**
 * Repeats a run whose worker crashed, which says nothing about its input. If it crashes again, the run fails with an error
 * that callers may try again, because a result in its place would be kept.
 *
 * Errors: sandbox_crashed; those of the run.
 */
export async function repeatCrashed<Result>(work: () => Promise<Result>, log: Logger): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SandboxError) || error.reason !== 'crashed') throw error;
      log.warn({ err: error, attempt }, 'the worker of a sandbox crashed');
      if (attempt < maxAttempts) continue;
      throw crashed(error);
    }
  }
}

/** The error of a run that may succeed later. */
export function crashed(cause: SandboxError): DomainError {
  const detail = 'This cannot be processed at the moment. Try again later.';
  return new DomainError('unavailable', 'sandbox_crashed', detail, { retryAfterSeconds: 5, cause });
}

/**
 * Does the same, and returns another result if the work exceeds a limit of its worker, or throws, which is logged as
 * `warning`.
 *
 * Errors: those of `repeatCrashed` but a SandboxError.
 */
export async function runWithinLimits<Result, Instead>(
  work: () => Promise<Result>,
  log: Logger,
  warning: string,
  instead: (error: SandboxError) => Instead,
): Promise<Result | Instead> {
  try {
    return await repeatCrashed(work, log);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    log.warn({ err: error, reason: error.reason }, warning);
    return instead(error);
  }
}
