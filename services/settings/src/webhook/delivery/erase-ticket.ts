import type { Context } from '../../context.ts';

/**
 * Erases the data of a deleted ticket: the responses of receivers to its deliveries, the addresses that were called,
 * and the old and new values in its events, except those of enums and times. These thin events stay, and are still
 * delivered if they were not yet.
 *
 * Source: docs/reference/api.md, Deletion.
 */
export async function eraseTicket(
  { events, deliveries, erasedTickets }: Pick<Context, 'events' | 'deliveries' | 'erasedTickets'>,
  ticketId: number,
): Promise<void> {
  // First, so that a process that adds events or deliveries from now on erases them itself.
  await erasedTickets.add(ticketId);
  await events.erase([ticketId]);
  await deliveries.erase([ticketId]);
}
