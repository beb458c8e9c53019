import type { Context } from '../context.ts';
import { isPartOfTicket } from '../message/find-known.ts';
import type { ParsedMail } from './mail.ts';

/**
 * Finds the ticket that a mail belongs to: the ticket of the nearest message that it replies to, else the one of the
 * token in its subject. Deleted tickets are ignored.
 */
export async function findThread(context: Context, mail: ParsedMail): Promise<number | undefined> {
  const answered = mail.answeredIds.length === 0 ? [] : await context.externalMessageIds.find(mail.answeredIds);
  for (const message of answered) if (await isPartOfTicket(context, message)) return message.ticketId;
  const ticketId = mail.subject === null ? undefined : context.ticketTokens.find(mail.subject);
  return ticketId !== undefined && (await context.tickets.findMessages(ticketId)) ? ticketId : undefined;
}
