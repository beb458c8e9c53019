import { once } from 'node:events';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import { type BodiesInFlight, bodiesInFlight } from '@ticketing/service-kit/server/bodies-in-flight.ts';
import type { ServiceTls } from '@ticketing/service-kit/tls/service-tls.ts';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { mailLimits } from './mail-limits.ts';
import { readData } from './read-data.ts';
import type { ReceiverConfig } from './receiver-config.ts';
import { addressLimiter } from './smtp-connections.ts';
import { smtpReply } from './smtp-reply.ts';

/** What the SMTP receiver does with mails. */
export interface MailHandler {
  /** Whether mails to an address are taken in. Errors: settings_unavailable, store_unavailable. */
  accepts(recipient: string): Promise<boolean>;
  /** Takes in a mail, and returns when it is stored. `sender` is the address of the connection. */
  receive(mail: Buffer, recipients: readonly string[], sender: string): Promise<void>;
}

/** The limits of the SMTP receiver. Tests replace some of them. */
export interface SmtpLimits {
  connections: number;
  connectionsPerAddress: number;
  recipients: number;
  /** Without a byte from the client. */
  idleMs: number;
  /** From the connection to its end, whatever it does. */
  sessionMs: number;
  /** How long a mail that is being received may take at the stop of the service. */
  stopMs: number;
  bytesInFlight: number;
}

export const defaultSmtpLimits: Omit<SmtpLimits, 'bytesInFlight'> = {
  connections: 200,
  connectionsPerAddress: 50,
  recipients: 100,
  idleMs: 60_000,
  sessionMs: 15 * 60_000,
  stopMs: 10_000,
};

/** The parts that the SMTP receiver is made from. */
export interface ReceiverParts {
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
  const receiver = smtpServer(parts);
  const { server } = receiver;
  server.on('error', (error: Error) => log.info({ reason: error.message }, 'an SMTP connection failed'));
  const listener = server.listen(config.port, config.host);
  await once(listener, 'listening');
  const removeListener = tls.onChange(() => server.updateSecureContext(certificateOf(tls)));
  log.info({ address: listener.address() }, 'mails are received');
  return {
    wake: () => undefined,
    async stop() {
      removeListener();
      const closed = new Promise<void>((resolve) => server.close(resolve));
      receiver.stop();
      await closed;
    },
  };
}

type Callback = (error?: Error | null) => void;

function smtpServer({ limits, tls, log, handler }: ReceiverParts) {
  const bodies = bodiesInFlight(limits.bytesInFlight);
  const addresses = addressLimiter(limits.connectionsPerAddress);
  const receiving = new Set<string>();
  const timers = new Map<string, NodeJS.Timeout>();
  let isStopping = false;
  const end = (id: string, reply: string) => {
    for (const connection of server.connections) if (connection.id === id) connection.send(421, reply);
  };
  const server = new SMTPServer({
    ...certificateOf(tls),
    disabledCommands: [
      'AUTH',
      'XCLIENT',
      'XFORWARD',
      'WIZ',
      'SHELL',
      'KILL',
      ...(tls.files().cert ? [] : ['STARTTLS']),
    ],
    size: mailLimits.bytes,
    rejectOversized: true,
    maxClients: limits.connections,
    maxRecipients: limits.recipients,
    socketTimeout: limits.idleMs,
    closeTimeout: limits.stopMs,
    disableReverseLookup: true,
    logger: false,
    onConnect(session, callback) {
      const isFree = addresses.take(session.id, session.remoteAddress);
      const endLate = () => end(session.id, 'The session takes too long.');
      timers.set(session.id, setTimeout(endLate, limits.sessionMs).unref());
      callback(isFree ? null : replyError(421, 'Too many connections from your address, try again later.'));
    },
    onClose({ id }) {
      clearTimeout(timers.get(id));
      timers.delete(id);
      addresses.release(id);
      receiving.delete(id);
    },
    onRcptTo({ address }, _session, callback) {
      const answer = async () => {
        if (!(await handler.accepts(address))) throw replyError(550, 'There is no such mailbox.');
      };
      settle(answer(), callback, log);
    },
    onData(stream, session, callback) {
      receiving.add(session.id);
      const received = receive(stream, session, { bodies, handler }).finally(() => {
        receiving.delete(session.id);
        if (isStopping) setImmediate(() => end(session.id, 'The service is stopping.'));
      });
      settle(received, callback, log);
    },
  });
  return {
    server,
    /** Ends the sessions that are between two mails. The others end after their mail. */
    stop() {
      isStopping = true;
      for (const { id } of server.connections) if (!receiving.has(id)) end(id, 'The service is stopping.');
    },
  };
}

/** Receives the data of a mail, and hands it over. All of it is read, also if it is refused. */
async function receive(
  stream: NodeJS.ReadableStream,
  { envelope, remoteAddress }: SMTPServerSession,
  { bodies, handler }: { bodies: BodiesInFlight; handler: MailHandler },
): Promise<void> {
  const held = bodies.hold(remoteAddress);
  try {
    const mail = await readData(stream, mailLimits.bytes, held);
    // The server refuses a mail that is too large by itself.
    if (!mail) return;
    await handler.receive(
      mail,
      envelope.rcptTo.map(({ address }) => address),
      remoteAddress,
    );
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
function certificateOf({ files }: Pick<ServiceTls, 'files'>) {
  const { cert, key } = files();
  return cert && key ? { cert, key } : {};
}
