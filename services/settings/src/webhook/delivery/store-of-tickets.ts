import type { Context } from '../../context.ts';
import { eraseTicket } from './erase-ticket.ts';

/**
 * Stores data of tickets. `store` gets the tickets among them that were deleted, and leaves out the data that must be
 * erased. Erases afterwards the stored data of tickets that were deleted meanwhile.
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
