import { batchedCalls } from '@ticketing/runtime/batched-calls.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import { isUnreachable } from '@ticketing/store/document/store-error.ts';
import type { TicketCollection } from './schema.ts';

/** An update of a ticket that records the request by which it is made. */
export interface RequestedUpdate {
  ticketId: number;
  requestId: string;
  filter: Query;
  update: Query;
}

/**
 * Makes an update that batches concurrent calls for different tickets, so that many share one round trip and one journal
 * write. It returns whether the ticket matched its filter.
 *
 * Errors: those of the driver.
 */
export function batchedUpdate(tickets: TicketCollection): (update: RequestedUpdate) => Promise<boolean> {
  const updateOne = async ({ filter, update }: RequestedUpdate) =>
    (await tickets.updateOne(filter, update)).matchedCount === 1;

  async function updateTogether(updates: readonly RequestedUpdate[]): Promise<boolean[]> {
    const writes = updates.map(({ filter, update }) => ({ updateOne: { filter, update } }));
    const { matchedCount } = await tickets.bulkWrite(writes as never, { ordered: false });
    if (matchedCount === updates.length) return updates.map(() => true);
    // The count does not say which of them matched.
    const ids = updates.map(({ ticketId }) => ticketId);
    const found = await tickets.find({ _id: { $in: ids } }, { projection: { 'appliedRequests.id': 1 } }).toArray();
    const applied = new Map(
      found.map(({ _id, appliedRequests = [] }) => [_id, new Set(appliedRequests.map(({ id }) => id))]),
    );
    return updates.map(({ ticketId, requestId }) => applied.get(ticketId)?.has(requestId) ?? false);
  }

  async function updateAll(updates: readonly RequestedUpdate[]): Promise<(boolean | Promise<boolean>)[]> {
    if (updates.length === 1) return updates.map(updateOne);
    try {
      return await updateTogether(updates);
    } catch (error) {
      if (isUnreachable(error)) throw error;
      // One of them has failed. The others that were made do not match again, and their requests are known.
      return updates.map(updateOne);
    }
  }

  return batchedCalls(updateAll, { failsAll: isUnreachable });
}
