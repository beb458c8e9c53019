import { storeCall } from '@ticketing/store/document/store-error.ts';
import { isNotDeleted, type TicketCollection } from '../ticket/store/schema.ts';

/**
 * The reservations of tickets: a reserved ticket is changed by one bulk only. Errors of every operation:
 * store_unavailable.
 */
export interface ReservationStore {
  /**
   * Reserves a ticket for a bulk. `taken`: another bulk has reserved it; `stale`: it does not have the version, or does
   * not exist.
   */
  reserve(ticketId: number, version: number | undefined, bulkId: string): Promise<'reserved' | 'taken' | 'stale'>;
  /** Ends the reservations of some tickets by a bulk. */
  release(ticketIds: readonly number[], bulkId: string): Promise<void>;
}

/** Opens the reservations of a collection of tickets. */
export function reservationStore(tickets: TicketCollection): ReservationStore {
  return {
    reserve: (ticketId, version, bulkId) =>
      storeCall(async () => {
        const expected = { _id: ticketId, ...isNotDeleted, ...(version === undefined ? {} : { version }) };
        const isFree = { ...expected, reservedBy: { $in: [null, bulkId] } };
        const { matchedCount } = await tickets.updateOne(isFree, { $set: { reservedBy: bulkId } });
        if (matchedCount === 1) return 'reserved';
        return (await tickets.findOne(expected, { projection: { _id: 1 } })) ? 'taken' : 'stale';
      }),
    async release(ticketIds, bulkId) {
      const isReserved = { _id: { $in: [...ticketIds] }, reservedBy: bulkId };
      await storeCall(() => tickets.updateMany(isReserved, { $set: { reservedBy: null } }));
    },
  };
}
