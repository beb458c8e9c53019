import { storeCall } from '@ticketing/store/store-error.ts';
import type { Connection, mongo } from 'mongoose';

/** The ids of deleted tickets of which nothing may be stored any more. Errors of every operation: store_unavailable. */
export interface ErasedTickets {
  add(ticketId: number): Promise<void>;
  /** Those of some tickets that are erased. */
  among(ticketIds: readonly number[]): Promise<Set<number>>;
  removeOlderThan(time: number): Promise<void>;
}

interface ErasedTicket {
  _id: number;
  /** Unix ms. */
  erasedAt: number;
}

const collectionOf = (connection: Connection) =>
  connection.collection('erasedTickets') as unknown as mongo.Collection<ErasedTicket>;

/** Builds the missing indexes of the erased tickets. */
export async function buildErasedTicketIndexes(connection: Connection): Promise<void> {
  await collectionOf(connection).createIndex({ erasedAt: 1 });
}

/** Opens the erased tickets on a connection. Units: Unix ms. */
export function erasedTickets(connection: Connection, now: () => number): ErasedTickets {
  const tickets = collectionOf(connection);
  return {
    add: (ticketId) =>
      storeCall(async () => {
        await tickets.updateOne({ _id: ticketId }, { $set: { erasedAt: now() } }, { upsert: true });
      }),
    among: (ticketIds) =>
      storeCall(async () => {
        const found = await tickets.find({ _id: { $in: [...ticketIds] } }, { projection: { _id: 1 } }).toArray();
        return new Set(found.map(({ _id }) => _id));
      }),
    removeOlderThan: (time) =>
      storeCall(async () => {
        await tickets.deleteMany({ erasedAt: { $lt: time } });
      }),
  };
}
