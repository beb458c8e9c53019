import type { ReceivedMailOutcome } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { MessageReference } from '../message/external-id-store.ts';
import type { ParsedMail } from './parsed-mail.ts';

/** Who takes in a mail, and in which request. */
export type MailCall = Pick<Call, 'caller' | 'trace' | 'log'> & Partial<Pick<Call, 'idempotency'>>;

/** A mail that was read, and what is decided about it. Units: `receivedAt` in Unix seconds. */
export interface IncomingMail {
  mail: ParsedMail;
  /** By which a repeated mail is recognised: its `Message-ID`, else the digest of its bytes. */
  externalId: string;
  subchannelId: number | null;
  receivedAt: number;
  isProgrammatic: boolean;
}

/** Where a mail is. */
export interface ReceivedMail extends MessageReference {
  outcome: ReceivedMailOutcome;
}
