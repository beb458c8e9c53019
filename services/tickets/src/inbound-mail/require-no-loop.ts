import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Context } from '../context.ts';
import type { IncomingMail } from './incoming-mail.ts';

/** How many messages a ticket may get in an hour before those of programs are refused. */
export const maxMessagesBeforeLoop = 20;
const periodSeconds = 3600;

/**
 * Refuses a mail of a program to a ticket that has just got many messages: two programs may be answering each other.
 *
 * Errors: mail_loop. Source: docs/reference/api.md, Incoming mail.
 */
export async function requireNoLoop(
  context: Context,
  ticketId: number,
  { isProgrammatic, receivedAt }: IncomingMail,
): Promise<void> {
  const since = context.now() - periodSeconds;
  if (!isProgrammatic || receivedAt < since) return;
  const received = await context.conversations.countReceived(ticketId, since, maxMessagesBeforeLoop);
  if (received < maxMessagesBeforeLoop) return;
  const detail = 'The ticket gets too many messages in an hour for one of a program.';
  throw new DomainError('failed_precondition', 'mail_loop', detail);
}
