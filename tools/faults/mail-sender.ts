import type { LoadResponse, LoadSender } from './load-sender.ts';
import type { Random } from './random.ts';

/** Hands mails to the system by RPC, as a mail server would. */
export interface MailSender {
  receive(random: Random, mail: string): Promise<LoadResponse>;
  close(): void;
}

const path = '/ticketing.tickets.v1.MailService/ReceiveMail';

/** Opens connections to the service that takes in mails, which may get another port when the system is restarted. */
export function openMailSender(url: () => URL, open: (to: URL) => LoadSender): MailSender {
  const senders = new Map<string, LoadSender>();
  const current = () => {
    const to = url();
    const sender = senders.get(to.origin) ?? open(to);
    senders.set(to.origin, sender);
    return sender;
  };
  return {
    receive: (random, mail) => current().send(random, 'POST', path, { mail: Buffer.from(mail).toString('base64') }),
    close() {
      for (const sender of senders.values()) sender.close();
    },
  };
}
