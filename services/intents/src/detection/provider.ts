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
