import type { Context } from '../context.ts';
import { eraseTicket } from './erase-ticket.ts';

/**
 * Stores something of tickets. `store` gets those of them that were deleted, and leaves out what must be erased of these.
 * Erases afterwards what it stored of a ticket that was deleted meanwhile.
 */
export async function storeOfTickets(
  context: Pick<Context, 'events' | 'deliveries' | 'erasedTickets'>,
  ticketIds: readonly number[],
  store: (erased: ReadonlySet<number>) => Promise<void>,
): Promise<void> {
  const tickets = [...new Set(ticketIds)];
  const erasedBefore = await context.erasedTickets.among(tickets);
  await store(erasedBefore);
  const erasedSince = await context.erasedTickets.among(tickets.filter((id) => !erasedBefore.has(id)));
  for (const id of erasedSince) await eraseTicket(context, id);
}
