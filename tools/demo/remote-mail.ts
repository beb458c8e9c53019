import type { DemoMail } from './demo-mail.ts';

/** The addresses of the mails of a system that was not started by `npm start`. */
interface MailUrls {
  /** The port of the tickets service for HTTP. */
  rpcUrl: string;
  /** The catcher of mails: Mailpit, or a program with the same API. */
  mailsUrl: string;
}

/** The part that is used of a page of mails, as Mailpit lists them. */
interface MailPage {
  messages: readonly { ID: string; MessageID: string }[];
}

const newest = 100;

/** Opens the mails of a system that sends them to a catcher of mails. Source: https://mailpit.axllent.org/docs/api-v1/. */
export function remoteMail({ rpcUrl, mailsUrl }: MailUrls, token: string): DemoMail {
  return {
    async receive(mail) {
      const response = await fetch(new URL('/ticketing.tickets.v1.MailService/ReceiveMail', rpcUrl), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ mail: Buffer.from(mail).toString('base64') }),
      });
      return (await response.json()) as Record<string, unknown>;
    },
    async sent(messageId) {
      const page = await fetch(new URL(`/api/v1/messages?limit=${newest}`, mailsUrl));
      const { messages } = (await page.json()) as MailPage;
      const bare = messageId.replace(/^<|>$/g, '');
      const found = messages.find(({ MessageID }) => MessageID === bare);
      if (!found) return undefined;
      const place = new URL(`/api/v1/message/${found.ID}/raw`, mailsUrl);
      return { place: place.href, text: await (await fetch(place)).text() };
    },
  };
}
