import { createTransport } from 'nodemailer';
import { type ComposedMail, failedForAll, type MailOutcome, type MailTransport } from './transport.ts';

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
export interface SmtpTimes {
  connectMs: number;
  /** The longest time without a byte from the server. */
  silenceMs: number;
}

const defaultTimes: SmtpTimes = { connectMs: 10_000, silenceMs: 60_000 };
/** Shorter than servers wait for the next mail, so that none closes a connection while a mail begins. */
const idleMs = 5_000;
const maxErrorLength = 500;

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
        return outcomeOf(mail, sent.rejectedErrors ?? []);
      } catch (error) {
        signal.throwIfAborted();
        return failureOf(mail, error as SmtpError);
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

function failureOf(mail: ComposedMail, error: SmtpError): MailOutcome {
  if (error.rejectedErrors?.length) return outcomeOf(mail, error.rejectedErrors);
  return failedForAll(mail, isAboutMail(error) ? 'refused' : 'deferred', textOf(error));
}

/** The outcome of a mail of which the server has refused some recipients, or all. */
function outcomeOf({ envelope }: ComposedMail, errors: readonly SmtpError[]): MailOutcome {
  const outcome: MailOutcome = { accepted: [], deferred: [], refused: [], error: errors[0] ? textOf(errors[0]) : null };
  const byRecipient = new Map(errors.map((error) => [error.recipient, error]));
  for (const address of envelope.to) {
    const error = byRecipient.get(address);
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

function textOf({ message, code, command }: SmtpError): string {
  return [code, command, message]
    .filter((part) => part !== undefined)
    .join(' ')
    .slice(0, maxErrorLength);
}
