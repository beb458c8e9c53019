import type { DeliveryParts } from './open.ts';

type ErasureParts = Pick<DeliveryParts, 'events' | 'deliveries' | 'erasedTickets'>;

/**
 * Erases the data of a deleted ticket: the responses of receivers to its deliveries, the addresses that were called,
 * and the old and new values in its events, except those of enums and times. These thin events stay, and are still
 * delivered if they were not yet.
 *
 * Source: docs/reference/api.md, Deletion.
 */
export async function eraseTicket(
  { events, deliveries, erasedTickets }: ErasureParts,
  ticketId: number,
): Promise<void> {
  // First, so that a process that adds events or deliveries from now on erases them itself.
  await erasedTickets.add(ticketId);
  await events.erase([ticketId]);
  await deliveries.erase([ticketId]);
}

/**
 * Stores data of tickets. `store` gets the tickets among them that were deleted, and leaves out the data that must be
 * erased. Erases afterwards the stored data of tickets that were deleted meanwhile.
 */
export async function storeOfTickets(
  parts: ErasureParts,
  ticketIds: readonly number[],
  store: (erased: ReadonlySet<number>) => Promise<void>,
): Promise<void> {
  const tickets = [...new Set(ticketIds)];
  const erasedBefore = await parts.erasedTickets.among(tickets);
  await store(erasedBefore);
  const erasedSince = await parts.erasedTickets.among(tickets.filter((id) => !erasedBefore.has(id)));
  for (const id of erasedSince) await eraseTicket(parts, id);
}
