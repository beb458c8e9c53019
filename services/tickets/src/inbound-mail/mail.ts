import type { ReceivedMailOutcome } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { MessageReference } from '../message/external-id-store.ts';
import type { WriteCall } from '../ticket/insert.ts';

const mib = 1024 * 1024;

/** The limits of incoming mails. Source: docs/reference/api.md, Incoming mail. */
export const mailLimits = {
  /** Of the whole mail, as it is transferred. */
  bytes: 40 * mib,
  /** Of all headers, those of its parts included. */
  headerBytes: mib,
  /** Of the headers that are kept. */
  keptHeaderChars: 256 * 1024,
  keptHeaderValueChars: 16 * 1024,
  depth: 50,
  /** Messages within messages are read as texts down to this depth, and are files below it. */
  messageDepth: 2,
  files: 100,
  fileBytes: 20 * mib,
  filesBytes: 25 * mib,
  bodyBytes: 5 * mib,
  subjectChars: 998,
  nameChars: 320,
  recipients: 500,
};

/** A mail as it is taken in: everything that becomes a header is one line, and every text has at most its limit. */
export interface ParsedMail {
  /** With its angle brackets; null if there is none. */
  messageId: string | null;
  /** SHA-256 of the mail in hexadecimal, which identifies a mail without a `Message-ID`. */
  digest: string;
  /** The ids of the messages that it replies to, the nearest first. */
  answeredIds: readonly string[];
  /** Its `Date` in Unix seconds; null without a valid one. */
  date: number | null;
  /** An address as a rule; a sender without a valid one is kept as it is written. */
  from: string;
  fromName: string | null;
  to: readonly string[];
  cc: readonly string[];
  subject: string | null;
  body: string | null;
  isHtml: boolean;
  /** By names in lower case; a list where a header occurs several times. */
  headers: Readonly<Record<string, string | readonly string[]>>;
  files: readonly MailFile[];
}

/** A file in a mail. */
export interface MailFile {
  name: string;
  bytes: Uint8Array;
  /** Whether the HTML shows it. */
  inline: boolean;
}

/** Why a mail is not taken in. */
export interface UnreadableMail {
  problem: string;
  /** Whether it is only too large. */
  isTooLarge: boolean;
}

/** The caller that takes in a mail, and its request. */
export type MailCall = WriteCall & Pick<Call, 'log'>;

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
