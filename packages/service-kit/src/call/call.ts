import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Trace } from '@ticketing/runtime/trace.ts';
import type { Caller } from '../identity/caller.ts';
import type { IdempotentRequest } from './idempotent-request.ts';

/** The context of a request for its handler, the same for REST and RPC. */
export interface Call {
  caller: Caller;
  api: 'rest' | 'rpc';
  trace: Trace;
  log: Logger;
  /** Aborted when the client has closed its connection or the deadline has passed. */
  signal: AbortSignal;
  /** Aborted when the client has closed its connection. It has no deadline, for responses that have none. */
  gone: AbortSignal;
  /** Returns a header of the request, by its lower-case name. */
  header(name: string): string | undefined;
  /** Sets a header of the response, by its lower-case name. */
  setResponseHeader(name: string, value: string): void;
  /** Counts the request as several against the rate limit of its caller. It is not refused itself. */
  countAs(requests: number): void;
  /**
   * Calls a function when the response has been encoded, which does not depend on how fast its client reads; not for a
   * stream, and not if there is no response.
   */
  onEncoded(done: () => void): void;
  /** Calls a function when the handler has ended and its response has been sent, or cannot be sent any more. */
  onEnd(done: () => void): void;
  /** Ends a response that its client does not read. */
  endResponse(): void;
  /** Set if the request has an `Idempotency-Key`: the client may send it more than once. */
  idempotency?: IdempotentRequest;
}

/** How long a handler may take before its call is aborted. */
export const callDeadlineMs = 30_000;

/** Returns the reason of a call's signal when its deadline has passed. */
export const deadlineExceeded = () =>
  new DomainError('deadline_exceeded', 'deadline_exceeded', 'The call took too long.');

/** Returns the reason of a call's signal when the process ends before it. */
export const serviceStopping = () =>
  new DomainError('unavailable', 'service_stopping', 'The service is stopping.', { retryAfterSeconds: 1 });

/** Returns the reason of a call's signal when its client has gone. */
export const clientGone = () => new DomainError('canceled', 'canceled', 'The client has closed the connection.');
