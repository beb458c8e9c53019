import { addressKey } from '@ticketing/service-kit/admission/address-key.ts';
import type { SMTPServer } from 'smtp-server';

export interface SessionLimits {
  /** Of an IPv4 address, or a /64 network of IPv6. */
  connectionsPerAddress: number;
  /** From the connection, or the last mail, to the beginning of the data of a mail. */
  beforeMailMs: number;
  /** From the connection to its end, whatever it does. */
  sessionMs: number;
}

/** The sessions of an SMTP server. */
export interface SmtpSessions {
  /** Counts a session. Returns false if its address has too many already; it is counted nevertheless. */
  begin(id: string, address: string): boolean;
  /** Follows the work on a mail of a session. */
  receiving(id: string, work: Promise<void>): Promise<void>;
  /** Forgets a session that has ended. */
  forget(id: string): void;
  /** Ends the sessions that are between two mails. The others end after their mail. */
  stop(): void;
}

interface Session {
  address: string;
  timer: NodeJS.Timeout;
  /** Ends the session unless a mail begins before. */
  waiting: NodeJS.Timeout;
  isReceiving: boolean;
}

export function smtpSessions(limits: SessionLimits, server: () => Pick<SMTPServer, 'connections'>): SmtpSessions {
  const sessions = new Map<string, Session>();
  let isStopping = false;
  const end = (id: string, reply: string) => {
    for (const connection of server().connections) if (connection.id === id) connection.send(421, reply);
  };
  const endStopping = (id: string) => end(id, 'The service is stopping.');
  const waitForMail = (id: string) =>
    setTimeout(() => end(id, 'No mail has begun in time.'), limits.beforeMailMs).unref();
  return {
    begin(id, remoteAddress) {
      const address = addressKey(remoteAddress);
      const timer = setTimeout(() => end(id, 'The session takes too long.'), limits.sessionMs).unref();
      sessions.set(id, { address, timer, waiting: waitForMail(id), isReceiving: false });
      const ofAddress = [...sessions.values()].filter((session) => session.address === address);
      return ofAddress.length <= limits.connectionsPerAddress;
    },
    async receiving(id, work) {
      const session = sessions.get(id);
      if (session) {
        session.isReceiving = true;
        clearTimeout(session.waiting);
      }
      try {
        await work;
      } finally {
        if (session) session.isReceiving = false;
        if (session && sessions.has(id)) session.waiting = waitForMail(id);
        // After the reply to the mail.
        if (isStopping) setImmediate(endStopping, id);
      }
    },
    forget(id) {
      const session = sessions.get(id);
      clearTimeout(session?.timer);
      clearTimeout(session?.waiting);
      sessions.delete(id);
    },
    stop() {
      isStopping = true;
      for (const { id } of server().connections) if (!sessions.get(id)?.isReceiving) endStopping(id);
    },
  };
}
