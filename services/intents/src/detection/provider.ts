import type { Channel } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { TicketText } from '../learning/ticket-text.ts';
import type { Detected } from './rules/detected.ts';

/** A provider of detection: it reads a ticket, and changes nothing. */
export interface Detection {
  /**
   * Detects what a ticket is about. Whatever the text says, the result names only tags and keywords of the request.
   *
   * Errors: DomainError unavailable, if another attempt can succeed; `signal.reason`, once it aborts.
   */
  detect(request: DetectionRequest, signal: AbortSignal): Promise<Detected>;
  close(): Promise<void>;
}

/** The ticket to read, and the tags and keywords to look for. */
export interface DetectionRequest {
  ticketId: number;
  /** The subject, and the body as plain text without quotes and signature. */
  text: TicketText;
  channel: Channel;
  /** The tags that may be detected. */
  tags: readonly CandidateTag[];
  /** The keywords of AI agents. */
  keywords: readonly string[];
}

/** A tag that may be detected. */
export interface CandidateTag {
  id: number;
  /** The names from its top-level ancestor down to it. */
  name: string;
  /** Words whose occurrence suggests it. */
  keywords: readonly string[];
}

/**
 * Why a provider has no result:
 *
 * - `settings_unavailable`: the settings could not be read. `not_configured`: they name no endpoint or no model.
 *   `key_unavailable`: the key could not be read.
 * - `budget`: the requests or tokens of this minute are used. `busy`: too many requests wait. `paused`: several failed.
 * - `timeout`: the time is over. `unreachable`: there is no connection, or no valid HTTP, or the address is not
 *   allowed.
 * - `rate_limited`: status 429. `server_error`: 5xx. `rejected`: 400, 413 or 422, which the text can cause. `denied`:
 *   another status that is no success, for example because the key or the model is wrong.
 * - `invalid_answer`: not as the schema says. `incomplete`: it was cut. `refusal`: the model did not want to.
 */
export type FailureReason =
  | 'settings_unavailable'
  | 'not_configured'
  | 'key_unavailable'
  | 'budget'
  | 'busy'
  | 'paused'
  | 'timeout'
  | 'unreachable'
  | 'rate_limited'
  | 'server_error'
  | 'denied'
  | 'rejected'
  | 'invalid_answer'
  | 'incomplete'
  | 'refusal';

/** Failures that may be over soon. */
export const transientReasons: readonly FailureReason[] = ['rate_limited', 'server_error', 'unreachable'];

/** A detection without a result. It can be logged: it contains nothing of the ticket, of the answer, or of the key. */
export class DetectionFailure extends Error {
  override readonly name = 'DetectionFailure';
  readonly reason: FailureReason;
  /** The HTTP status or the code of the failed connection, if there is one. */
  readonly facts: string | undefined;
  /** The pause that the endpoint asks for. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: FailureReason, options: { facts?: string | undefined; retryAfterMs?: number | undefined } = {}) {
    super(options.facts === undefined ? reason : `${reason} (${options.facts})`);
    this.reason = reason;
    this.facts = options.facts;
    this.retryAfterMs = options.retryAfterMs;
  }
}
