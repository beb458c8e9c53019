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
