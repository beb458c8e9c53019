import { lastingFields } from '@ticketing/contracts/lasting-fields.ts';
import type { Query } from '@ticketing/store/document/field-query.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import { isDeleted, type TicketCollection } from '../ticket/store/schema.ts';

/**
 * The services that still have to erase their data of deleted tickets.
 *
 * Errors of every operation: store_unavailable.
 */
export interface ErasureStore {
  /** The deleted tickets of which a service has not confirmed the erasure, in the order of their deletion. */
  pendingIds(service: string, limit: number): Promise<number[]>;
  /** Wipes the old and new values from the events of a deleted ticket that the relay has not sent. */
  wipeUnsentValues(ticketId: number): Promise<void>;
  /** Records that a service has erased its data of a deleted ticket. Returns false if the ticket is not deleted. */
  confirm(ticketId: number, service: string): Promise<boolean>;
  pendingByService(): Promise<PendingErasures[]>;
}

/** The deleted tickets of which a service has not confirmed the erasure. */
export interface PendingErasures {
  service: string;
  count: number;
  /** When the first of them was deleted. */
  oldestAt: Date;
}

export function erasureStore(tickets: TicketCollection): ErasureStore {
  return {
    pendingIds: (service, limit) =>
      storeCall(async () => {
        const options = { projection: { _id: 1 }, sort: { deletedAt: 1 }, limit } as const;
        return (await tickets.find({ notErasedBy: service }, options).toArray()).map(({ _id }) => _id);
      }),
    wipeUnsentValues: (ticketId) =>
      storeCall(async () => {
        const values = { 'outbox.$[].changes.$[one].oldValue': '', 'outbox.$[].changes.$[one].newValue': '' } as const;
        const arrayFilters = [{ 'one.field': { $nin: [...lastingFields] } }];
        await tickets.updateOne({ _id: ticketId, ...isDeleted }, { $unset: values }, { arrayFilters });
      }),
    confirm: (ticketId, service) =>
      storeCall(async () => {
        const confirmed: Query = { $pull: { notErasedBy: service } };
        const { matchedCount } = await tickets.updateOne({ _id: ticketId, ...isDeleted }, confirmed);
        await tickets.updateOne({ _id: ticketId, notErasedBy: [] }, { $unset: { notErasedBy: 1 } });
        return matchedCount === 1;
      }),
    pendingByService: () =>
      storeCall(async () => {
        const found = await tickets
          .aggregate<{ _id: string; count: number; oldestAt: Date }>([
            { $match: { notErasedBy: { $exists: true } } },
            { $unwind: '$notErasedBy' },
            { $group: { _id: '$notErasedBy', count: { $sum: 1 }, oldestAt: { $min: '$deletedAt' } } },
          ])
          .toArray();
        return found.map(({ _id, ...rest }) => ({ service: _id, ...rest }));
      }),
  };
}
