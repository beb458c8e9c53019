import type { Readable } from 'node:stream';

/** A composed mail with its envelope. */
export interface ComposedMail {
  /** With its angle brackets. */
  messageId: string;
  /** The addresses are normal ones, as `normalAddress` makes them. */
  envelope: { from: string; to: readonly string[] };
  /** Reads the mail in the format of RFC 5322, from its beginning. Errors: a file cannot be read. */
  open(): Readable;
}

/** The outcome of a mail. Each recipient of its envelope is in one of the lists. */
export interface MailOutcome {
  /** The next server has accepted the mail for them. */
  accepted: string[];
  /** A later attempt can succeed. */
  deferred: string[];
  /** Every attempt would fail again. */
  refused: string[];
  /** Why not all were accepted, in the words of the server; null if they were. */
  error: string | null;
}

/** The way by which mails leave this system. */
export interface MailTransport {
  /** Hands a mail over. Errors: only that of the signal, when it aborts the attempt. */
  send(mail: ComposedMail, signal: AbortSignal): Promise<MailOutcome>;
  close(): Promise<void>;
}

/** The outcome of an attempt that has failed in the same way for all recipients. */
export function failedForAll({ envelope }: ComposedMail, kind: 'deferred' | 'refused', error: string): MailOutcome {
  return { accepted: [], deferred: [], refused: [], [kind]: [...envelope.to], error };
}
