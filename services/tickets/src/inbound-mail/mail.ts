import type { ReceivedMailOutcome } from '@ticketing/contracts/ticketing/tickets/v1/mail_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { MessageReference } from '../message/external-id-store.ts';
import type { DeliveryReport } from '../message/rules/delivery-report.ts';
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
  parts: 1_000,
  /** Messages within messages are read as texts down to this depth, and are files below it. */
  messageDepth: 2,
  files: 100,
  fileBytes: 20 * mib,
  filesBytes: 25 * mib,
  bodyBytes: 5 * mib,
  subjectChars: 998,
  nameChars: 320,
  contentIdChars: 998,
  recipients: 500,
  /** In which one mail is taken in. The SMTP receiver lets the sender transfer it again for the others. */
  mailboxes: 10,
};

/** A mail as it is taken in: everything that becomes a header is one line, and every text has at most its limit. */
export interface ParsedMail {
  /** With its angle brackets; null if there is none. */
  messageId: string | null;
  /**
   * The digest of its author, date, subject and parts, by which a mail that is transferred again is known.
   * Without a date, by which repeated mails of a machine differ, it is that of all bytes.
   */
  digest: string;
  /** The ids of the messages that it replies to, the nearest first. */
  answeredIds: readonly string[];
  /** The ids in `References`, else in `In-Reply-To`, oldest first. */
  references: readonly string[];
  /** Its `Date` in Unix seconds; null without a valid one. */
  date: number | null;
  /** An address as a rule; a sender without a valid one is kept as it is written. */
  from: string;
  fromName: string | null;
  to: readonly string[];
  cc: readonly string[];
  /** The addresses to which its author wants replies. */
  replyTo: readonly string[];
  subject: string | null;
  body: string | null;
  isHtml: boolean;
  /** By names in lower case; a list where a header occurs several times. */
  headers: Readonly<Record<string, string | readonly string[]>>;
  /** The report of a mail server; null for every other mail. */
  report: DeliveryReport | null;
  files: readonly MailFile[];
}

/** A file in a mail. */
export interface MailFile {
  /** Empty if the content decides. */
  name: string;
  bytes: Uint8Array;
  /** Whether the HTML shows it. */
  inline: boolean;
  /** Its `Content-ID` without angle brackets, else its `Content-Location`; null without either. */
  contentId: string | null;
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
  /** The mail as it was transferred. */
  raw: Uint8Array;
  /** The mailbox that has received it. */
  subchannelId: number | null;
  receivedAt: number;
  isProgrammatic: boolean;
  /** The address of the person who wrote it, if it is not the sender. */
  author: string | null;
  /** The message to whose signed return address it was sent. */
  returned: ReturnedMessage | undefined;
  /** Whether its author has an address of ours, which nobody else should use: then it says nothing of who wrote it. */
  isOfOurs: boolean;
}

/** A message of ours to whose signed return address a mail was sent, and the mailbox from which it was sent. */
export interface ReturnedMessage extends MessageReference {
  address: string;
  subchannelId: number | null;
}

/** A mail under the external id that it is to have. */
export interface IdentifiedMail extends IncomingMail {
  externalId: string;
  /** The ticket that it answers. */
  threadTicketId: number | undefined;
}

/** The message that a mail has become, and the outcome. */
export interface ReceivedMail extends MessageReference {
  outcome: ReceivedMailOutcome;
}
