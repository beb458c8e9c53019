import type { ReceivedMailOutcome } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { MessageReference } from '../message/external-id-store.ts';
import type { ParsedMail } from './mail.ts';

/** The caller that takes in a mail, and its request. */
export type MailCall = Pick<Call, 'caller' | 'trace' | 'log'> & Partial<Pick<Call, 'idempotency'>>;

/** A mail that was read, and what is decided about it. Units: `receivedAt` in Unix seconds. */
export interface IncomingMail {
  mail: ParsedMail;
  /** Identifies a repeated mail: its `Message-ID`, else the digest of its bytes. */
  externalId: string;
  subchannelId: number | null;
  receivedAt: number;
  isProgrammatic: boolean;
}

/** The message that a mail has become, and the outcome. */
export interface ReceivedMail extends MessageReference {
  outcome: ReceivedMailOutcome;
}
