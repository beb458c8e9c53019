import { once } from 'node:events';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { addressKey } from '@ticketing/service-kit/admission/address-key.ts';
import { type BodiesInFlight, bodiesInFlight } from '@ticketing/service-kit/admission/bodies-in-flight.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { ServiceTls } from '@ticketing/service-kit/tls/service-tls.ts';
import { requireSpace } from '@ticketing/store/connection/free-space.ts';
import { SMTPServer, type SMTPServerEnvelope, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import type { TicketSettings } from '../settings.ts';
import { findMailboxes } from '../ticket/rules/subchannels.ts';
import { mailLimits } from './mail.ts';
import { takeInMail } from './receive.ts';
import { findReturned, returnedMailbox } from './returned.ts';
import { feedDataStream, readData } from './smtp-data.ts';
import { type SessionLimits, type SmtpSessions, smtpSessions } from './smtp-sessions.ts';
import type { InboundMailDeps } from './to-ticket.ts';

SMTPStream.prototype._feedDataStream = feedDataStream;

/** Starts the role `mail-receiver`: mails that arrive by SMTP are taken in on behalf of this service. */
export function startReceiver(
  { config, log, space, tls }: Pick<Kit<unknown, unknown>, 'config' | 'log' | 'space' | 'tls'>,
  receiver: ReceiverConfig,
  deps: InboundMailDeps,
): Promise<WakefulLoop> {
  const limits = { ...defaultSmtpLimits, bytesInFlight: config.maxBodyBytesInFlight };
  return startSmtpReceiver({ config: receiver, limits, tls, log, handler: mailHandler(deps, { log, space }) });
}

function mailHandler(deps: InboundMailDeps, { log, space }: Pick<Kit<unknown, unknown>, 'log' | 'space'>): MailHandler {
  return {
    async findMailbox(recipient) {
      requireSpace(space);
      const find = async ({ subchannels }: TicketSettings) => {
        const [known] = findMailboxes([recipient], subchannels);
        return known ?? returnedMailbox(await findReturned(deps, [recipient]), subchannels);
      };
      const known = await find(await deps.settings());
      if (known !== undefined) return known;
      const settings = await deps.settings('owner');
      if (settings.subchannels) return find(settings);
      throw new DomainError('unavailable', 'settings_unavailable', 'The mailboxes are not known yet.');
    },
    async receive(mail, { from, to }, sender) {
      requireSpace(space);
      const call = { caller: serviceCaller('tickets'), trace: continueTrace(undefined), log };
      const arrived = { raw: mail, recipients: to, returnPath: from, keepDate: false, sender: `smtp ${sender}` };
      for (const { ticketId, conversationId, outcome } of await takeInMail(deps, call, arrived)) {
        log.info({ ticketId, conversationId, outcome }, 'a mail was taken in');
      }
    },
  };
}

/** The address at which mails are received by SMTP. */
export interface ReceiverConfig {
  host: string;
  port: number;
}

/** Takes in the mails of the SMTP receiver. */
export interface MailHandler {
  /**
   * The mailbox that takes in the mails to an address; undefined if none does.
   *
   * Errors: settings_unavailable, store_unavailable.
   */
  findMailbox(recipient: string): Promise<number | undefined>;
  /** Takes in a mail, and returns when it is stored. `sender` is the address of the connection, or its /64 network of IPv6. */
  receive(mail: Buffer, envelope: MailEnvelope, sender: string): Promise<void>;
}

/** The addresses with which a mail is transferred. `from` is empty if failures are to be reported to nobody. */
export interface MailEnvelope {
  from: string;
  to: readonly string[];
}

/** The limits of the SMTP receiver. Tests replace some of them. */
export interface SmtpLimits extends SessionLimits {
  connections: number;
  recipients: number;
  /** The longest time without a byte from the client. */
  idleMs: number;
  /** How long a mail that is being received may take at the stop of the service. */
  stopMs: number;
  bytesInFlight: number;
}

export const defaultSmtpLimits: Omit<SmtpLimits, 'bytesInFlight'> = {
  connections: 200,
  connectionsPerAddress: 50,
  beforeMailMs: 60_000,
  recipients: 100,
  idleMs: 60_000,
  sessionMs: 15 * 60_000,
  stopMs: 10_000,
};

/** The parts that the SMTP receiver is made from. */
interface ReceiverParts {
  config: ReceiverConfig;
  limits: SmtpLimits;
  tls: Pick<ServiceTls, 'files' | 'onChange'>;
  log: Logger;
  handler: MailHandler;
}

/**
 * Starts to receive mails by SMTP. A mail is acknowledged when it is stored; if it cannot be stored at the moment, the
 * sender is asked to try again. Stopping completes the mails that are being received.
 *
 * Errors: a port that is taken. Source: docs/reference/api.md, Incoming mail.
 */
export async function startSmtpReceiver(parts: ReceiverParts): Promise<WakefulLoop> {
  const { config, tls, log } = parts;
  const { server, sessions } = smtpServer(parts);
  server.on('error', (error: Error) => log.info({ reason: error.message }, 'an SMTP connection failed'));
  const listener = server.listen(config.port, config.host);
  await once(listener, 'listening');
  const removeListener = tls.onChange(() => server.updateSecureContext(readCertificate(tls)));
  log.info({ address: listener.address() }, 'mails are received');
  return {
    wake: () => undefined,
    async stop() {
      removeListener();
      const closed = new Promise<void>((resolve) => server.close(resolve));
      sessions.stop();
      await closed;
    },
  };
}

type Callback = (error?: Error | null) => void;

function smtpServer({ limits, tls, log, handler }: ReceiverParts): { server: SMTPServer; sessions: SmtpSessions } {
  const bodies = bodiesInFlight(limits.bytesInFlight);
  const sessions = smtpSessions(limits, () => server);
  const mailboxes = new WeakMap<SMTPServerEnvelope, Set<number>>();
  const server = new SMTPServer({
    ...readCertificate(tls),
    ...serverOptions(limits),
    disabledCommands: [...disabledCommands, ...(tls.files().cert ? [] : ['STARTTLS'])],
    onConnect({ id, remoteAddress }, callback) {
      const isFree = sessions.begin(id, remoteAddress);
      callback(isFree ? null : replyError(421, 'Too many connections from your address, try again later.'));
    },
    onClose: ({ id }) => sessions.forget(id),
    onRcptTo({ address }, { envelope }, callback) {
      const ofMail = mailboxes.get(envelope) ?? new Set();
      mailboxes.set(envelope, ofMail);
      settle(addMailbox(handler, address, ofMail), callback, log);
    },
    onData(stream, session, callback) {
      settle(sessions.receiving(session.id, receive(stream, session, { bodies, handler })), callback, log);
    },
  });
  return { server, sessions };
}

/** Disabled, because nobody logs in here, and the others are for old programs or proxies. */
const disabledCommands = ['AUTH', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL'];

function serverOptions(limits: SmtpLimits): SMTPServerOptions {
  return {
    size: mailLimits.bytes,
    rejectOversized: true,
    maxClients: limits.connections,
    maxRecipients: limits.recipients,
    socketTimeout: limits.idleMs,
    closeTimeout: limits.stopMs,
    disableReverseLookup: true,
    logger: false,
  };
}

/** Adds the mailbox of a recipient to those of the mail. The sender transfers the mail again for recipients of 452. */
async function addMailbox(handler: MailHandler, address: string, mailboxes: Set<number>): Promise<void> {
  const mailbox = await handler.findMailbox(address);
  if (mailbox === undefined) throw replyError(550, 'There is no such mailbox.');
  if (mailboxes.size >= mailLimits.mailboxes && !mailboxes.has(mailbox)) throw replyError(452, 'Too many mailboxes.');
  mailboxes.add(mailbox);
}

/** Receives the data of a mail, and hands it over. All of it is read, also if it is refused. */
async function receive(
  stream: NodeJS.ReadableStream,
  { envelope, remoteAddress }: SMTPServerSession,
  { bodies, handler }: { bodies: BodiesInFlight; handler: MailHandler },
): Promise<void> {
  const sender = addressKey(remoteAddress);
  const held = bodies.hold(sender);
  try {
    const mail = await readData(stream, mailLimits.bytes, held);
    // The server refuses a mail that is too large by itself.
    if (!mail) return;
    const to = envelope.rcptTo.map(({ address }) => address);
    await handler.receive(mail, { from: envelope.mailFrom ? envelope.mailFrom.address : '', to }, sender);
  } finally {
    held.release();
  }
}

function settle(work: Promise<void>, callback: Callback, log: Logger): void {
  work.then(
    () => callback(null),
    (error: unknown) => callback(smtpReply(error, log)),
  );
}

function replyError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** Senders of mails need no certificate, whatever the other listeners demand. */
function readCertificate({ files }: Pick<ServiceTls, 'files'>) {
  const { cert, key } = files();
  return cert && key ? { cert, key } : {};
}

const replies: Readonly<Record<string, number>> = {
  storage_full: 452,
  mail_too_large: 552,
  invalid_mail: 554,
  mail_loop: 554,
  unknown_subchannel: 550,
  subchannel_disabled: 550,
};

/**
 * The SMTP reply for an error. A sender tries again after a code that begins with 4, and gives up after one that begins
 * with 5, so that only what is wrong with the mail itself is a 5.
 */
function smtpReply(error: unknown, log: Logger): Error & { responseCode: number } {
  if (error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number') {
    return Object.assign(error, { responseCode: error.responseCode });
  }
  if (error instanceof DomainError) {
    const responseCode = replies[error.reason] ?? 451;
    log.info({ reason: error.reason, responseCode }, 'a mail was not taken in');
    return Object.assign(new Error(error.message), { responseCode });
  }
  if (hasClosed(error)) return Object.assign(error, { responseCode: 451 });
  log.error({ err: error }, 'a mail could not be taken in');
  return Object.assign(new Error('The mail cannot be taken in at the moment.'), { responseCode: 451 });
}

/** Whether the client has closed the connection before the end of the mail: it sends it again. */
function hasClosed(error: unknown): error is Error {
  const codes = ['ECONNECTION', 'ERR_STREAM_PREMATURE_CLOSE'];
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code);
}
