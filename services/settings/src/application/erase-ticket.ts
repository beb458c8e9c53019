import type { Context } from './context.ts';

/**
 * Erases what this service stores of a deleted ticket: what receivers have responded to its deliveries, and the addresses
 * that were called. Its thin events stay, and those that are not delivered yet still are.
 *
 * Source: docs/reference/api.md, Deletion.
 */
export async function eraseTicket(
  { deliveries, erasedTickets }: Pick<Context, 'deliveries' | 'erasedTickets'>,
  ticketId: number,
): Promise<void> {
  // First, so that deliveries that are added from now on are erased by whoever adds them.
  await erasedTickets.add(ticketId);
  await deliveries.erase([ticketId]);
}
