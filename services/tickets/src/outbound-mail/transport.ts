import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createTransport } from 'nodemailer';
import MimeNode from 'nodemailer/lib/mime-node';
import { maxErrorChars } from '../message/rules/delivery-report.ts';

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
function failedForAll({ envelope }: ComposedMail, kind: 'deferred' | 'refused', error: string): MailOutcome {
  return { accepted: [], deferred: [], refused: [], [kind]: [...envelope.to], error };
}

/**
 * Puts mails as `.eml` files into a folder. The name of a file is made of the `Message-ID`, so that a mail that is sent
 * twice is one file. A file appears when it is whole.
 */
export function folderTransport(folder: string): MailTransport {
  return {
    async send(mail, signal) {
      const file = join(folder, fileName(mail.messageId));
      const unfinished = `${file}.part`;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        // Flushed, so that the mail is on the disk before it counts as sent.
        await pipeline(mail.open(), createWriteStream(unfinished, { mode: 0o600, flush: true }), { signal });
        await rename(unfinished, file);
        return { accepted: [...mail.envelope.to], deferred: [], refused: [], error: null };
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => undefined);
        signal.throwIfAborted();
        return failedForAll(mail, 'deferred', error instanceof Error ? error.message : String(error));
      }
    },
    close: async () => undefined,
  };
}

/** The name of the file of a mail. One whose `Message-ID` has characters that not every file system takes is hashed. */
function fileName(messageId: string): string {
  const name = messageId.replace(/^<|>$/g, '');
  const isSafe = /^[a-z0-9][a-z0-9@._-]{0,199}$/.test(name);
  return `${isSafe ? name : createHash('sha256').update(messageId).digest('hex')}.eml`;
}

/** The mail server to which mails are handed over. */
export interface SmtpConfig {
  host: string;
  port: number;
  /** `implicit` from the first byte, `required` after STARTTLS, `optional` if the server offers STARTTLS. */
  tls: 'implicit' | 'required' | 'optional';
  credentials: { user: string; password: string } | undefined;
  /** The name by which this system introduces itself; that of the machine if undefined. */
  clientName: string | undefined;
  maxConnections: number;
}

/** How long a step may take. Tests shorten them. */
interface SmtpTimes {
  connectMs: number;
  /** The longest time without a byte from the server. */
  silenceMs: number;
}

const defaultTimes: SmtpTimes = { connectMs: 10_000, silenceMs: 60_000 };
/** Shorter than servers wait for the next mail, so that none closes a connection while a mail begins. */
const idleMs = 5_000;

/** Sends mails to a mail server, over connections that are used again. */
export function smtpTransport(config: SmtpConfig, times = defaultTimes): MailTransport {
  const pool = createTransport({
    pool: true,
    host: config.host,
    port: config.port,
    secure: config.tls === 'implicit',
    requireTLS: config.tls === 'required',
    tls: { minVersion: 'TLSv1.2' },
    ...(config.credentials && { auth: { user: config.credentials.user, pass: config.credentials.password } }),
    ...(config.clientName !== undefined && { name: config.clientName }),
    maxConnections: config.maxConnections,
    // A mail whose connection has ended cannot be read a second time; it is composed again at its next attempt.
    maxRequeues: 0,
    idleTimeout: idleMs,
    connectionTimeout: times.connectMs,
    greetingTimeout: times.connectMs,
    dnsTimeout: times.connectMs,
    socketTimeout: times.silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail, signal) {
      const { messageId, envelope } = mail;
      const content = mail.open();
      try {
        const to = [...envelope.to];
        const sent = await pool.sendMail({ messageId, envelope: { from: envelope.from, to }, raw: content, signal });
        return toOutcome(mail, sent.rejectedErrors ?? []);
      } catch (error) {
        signal.throwIfAborted();
        return toFailure(mail, error as SmtpError);
      } finally {
        content.destroy();
      }
    },
    async close() {
      pool.close({ force: true });
    },
  };
}

/** The error of nodemailer for a failure. */
interface SmtpError extends Error {
  code?: string | undefined;
  command?: string | undefined;
  response?: string | undefined;
  /** Whether the server has responded with 5xx. */
  permanent?: boolean | undefined;
  recipient?: string | undefined;
  rejectedErrors?: SmtpError[] | undefined;
}

function toFailure(mail: ComposedMail, error: SmtpError): MailOutcome {
  if (error.rejectedErrors?.length) return toOutcome(mail, error.rejectedErrors);
  return failedForAll(mail, isAboutMail(error) ? 'refused' : 'deferred', describeError(error));
}

/** The spelling in which nodemailer sends the address of a recipient: it quotes some names, for example. */
function sentAddress(address: string): string {
  return new MimeNode('').setEnvelope({ to: address }).getEnvelope().to[0] ?? address;
}

/** The outcome of a mail of which the server has refused some recipients, or all. */
function toOutcome({ envelope }: ComposedMail, errors: readonly SmtpError[]): MailOutcome {
  const outcome: MailOutcome = {
    accepted: [],
    deferred: [],
    refused: [],
    error: errors[0] ? describeError(errors[0]) : null,
  };
  const byRecipient = new Map(errors.map((error) => [error.recipient, error]));
  for (const address of envelope.to) {
    const error = byRecipient.size === 0 ? undefined : byRecipient.get(sentAddress(address));
    outcome[error ? (error.permanent ? 'refused' : 'deferred') : 'accepted'].push(address);
  }
  return outcome;
}

/**
 * Whether the server, or the client, refuses the mail itself. All other failures are about the connection or the
 * credentials, also with a status 5xx, and would be the same for every mail.
 */
function isAboutMail({ code, permanent, response }: SmtpError): boolean {
  if (code !== 'EENVELOPE' && code !== 'EMESSAGE') return false;
  return permanent ?? response === undefined;
}

function describeError({ message, code, command }: SmtpError): string {
  return [code, command, message]
    .filter((part) => part !== undefined)
    .join(' ')
    .slice(0, maxErrorChars);
}
