import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail that the server of a test has accepted. */
export interface ReceivedMail {
  from: string;
  to: string[];
  bytes: Buffer;
}

/** A mail server of a test. */
export interface SmtpReceiver {
  port: number;
  mails: ReceivedMail[];
  /** How many connections it has accepted. */
  connections(): number;
  /** Breaks all connections. */
  breakConnections(): void;
  close(): Promise<void>;
}

/** A response of the server other than 250. */
export function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** The options of the server, and its reactions to a mail besides keeping it. */
export interface Behaviour extends SMTPServerOptions {
  /** Called with a mail before it is accepted; an error that it throws is the response. */
  accept?(mail: ReceivedMail): void | Promise<void>;
  /** Called when the server is responding that it has accepted a mail. */
  onAccepted?(): void | Promise<void>;
  port?: number;
  /** The address on which it listens; that of this machine alone if undefined. */
  host?: string;
}

/** Starts a mail server, which the test must close. */
export async function startSmtpReceiver({
  accept,
  onAccepted,
  port = 0,
  host = '127.0.0.1',
  ...options
}: Behaviour = {}): Promise<SmtpReceiver> {
  const mails: ReceivedMail[] = [];
  const sockets: Socket[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.onAuth ? ['STARTTLS'] : ['AUTH', 'STARTTLS'],
    allowInsecureAuth: true,
    closeTimeout: 100,
    onData(stream, session, done) {
      receive(stream, session.envelope).then(() => {
        done();
        return onAccepted?.();
      }, done);
    },
    ...options,
  });

  async function receive(
    stream: NodeJS.ReadableStream,
    envelope: { mailFrom: unknown; rcptTo: { address: string }[] },
  ) {
    const bytes = await buffer(stream);
    const mail = {
      from: (envelope.mailFrom as { address: string }).address,
      to: envelope.rcptTo.map(({ address }) => address),
      bytes,
    };
    await accept?.(mail);
    mails.push(mail);
  }

  // Connections that a test breaks are no failure of the test.
  server.on('error', () => undefined);
  server.server.on('connection', (socket: Socket) => sockets.push(socket));
  server.listen(port, host);
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    connections: () => sockets.length,
    breakConnections() {
      for (const socket of sockets) socket.destroy();
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
