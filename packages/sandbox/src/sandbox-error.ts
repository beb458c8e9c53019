/**
 * Why a run ended without a result. `failed`: the function threw; `crashed`: the worker ended for another reason than a
 * limit, for example because the operating system killed it, or could not be started. The same run may then succeed if it
 * is repeated.
 */
export type SandboxReason = 'time' | 'memory' | 'output' | 'failed' | 'crashed';

/** A run in a sandbox that has no result. The caller decides how to go on. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  readonly reason: SandboxReason;

  constructor(reason: SandboxReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
