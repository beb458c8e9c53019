import type { Context } from '../context.ts';

/**
 * Erases what this service stores of a deleted ticket: what receivers have responded to its deliveries, the addresses that
 * were called, and the old and new values in its events, but those of enums and times. These thin events stay, and those
 * that are not delivered yet still are.
 *
 * Source: docs/reference/api.md, Deletion.
 */
export async function eraseTicket(
  { events, deliveries, erasedTickets }: Pick<Context, 'events' | 'deliveries' | 'erasedTickets'>,
  ticketId: number,
): Promise<void> {
  // First, so that events and deliveries that are added from now on are erased by whoever adds them.
  await erasedTickets.add(ticketId);
  await events.erase([ticketId]);
  await deliveries.erase([ticketId]);
}
