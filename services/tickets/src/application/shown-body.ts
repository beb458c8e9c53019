import { setImmediate } from 'node:timers/promises';
import { bodyRules } from '../domain/body-texts.ts';
import { escapeTags } from '../domain/sanitise-html.ts';
import type { StoredTicket } from '../store/stored-ticket.ts';
import type { Context } from './context.ts';

/** How many characters are escaped before other requests are served. It takes 3 ms at most. */
const charsAtOnce = 65_536;

/**
 * Returns a ticket with texts that were made of its body by the rules of this process or by newer ones. If they had to be
 * made again, they are stored too, which is no change of the ticket.
 *
 * Errors: sandbox_busy, store_unavailable.
 */
export async function withCurrentTexts(context: Context, stored: StoredTicket): Promise<StoredTicket> {
  const { body, bodyRules: madeBy } = stored.ticket;
  if (body === null || madeBy >= bodyRules) return stored;
  const ticket = { ...stored.ticket, ...(await context.textWork.bodyFields(body)) };
  await context.tickets.setBodyFields(ticket);
  return { ...stored, ticket };
}

/** The body as clients may show it. `ticket` has current texts. */
export async function shownBody({ body, bodyHtml }: StoredTicket['ticket']): Promise<string | undefined> {
  if (body === null) return undefined;
  if (bodyHtml !== null) return bodyHtml;
  if (body.length <= charsAtOnce) return escapeTags(body);
  if (!body.includes('<')) return body;
  const parts: string[] = [];
  for (let at = 0; at < body.length; at += charsAtOnce) {
    parts.push(escapeTags(body.slice(at, at + charsAtOnce), body.charAt(at + charsAtOnce)));
    await setImmediate();
  }
  return parts.join('');
}
