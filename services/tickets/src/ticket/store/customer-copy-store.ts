import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { retryUpsert, storeCall } from '@ticketing/store/document/store-error.ts';
import { type Connection, type Model, Schema } from 'mongoose';
import type { CustomerCopy } from '../../customer/rules/customer.ts';
import { isNotDeleted, type TicketCollection } from './schema.ts';

/** A copy of a customer that is stored here until all tickets of the customer have it. */
interface CustomerCopyDocument extends CustomerCopy {
  /** The id of the customer. */
  _id: string;
  /** Differs for each read. */
  revision: string;
  /** Tickets with this id and higher ones have it. */
  beforeId: number;
}

/** The copy of the customer of a ticket, as just read. `revision` differs for each read. */
interface ReadCopy {
  customerId: string;
  ticketId: number;
  copy: CustomerCopy;
  revision: string;
}

/**
 * Stores copies of customers in their tickets. A new copy does not count as a change of a ticket.
 *
 * Errors of every operation: store_unavailable.
 */
export interface CustomerCopyStore {
  /** Stores a copy in the ticket and the newest tickets of the customer. `continue` writes any others. */
  set(read: ReadCopy): Promise<void>;
  /** Stores a waiting copy in further tickets, at most `limit`. Returns false if no copy is waiting. */
  continue(limit?: number): Promise<boolean>;
}

/** Limits how many tickets of a customer the request writes that reads the customer. */
export const maxCopiedAtOnce = 100;
const batchSize = 1000;
const collectionName = 'customerCopies';
const aboveAllIds = 2 ** 31;

export function customerCopyModel(connection: Connection): Model<CustomerCopyDocument> {
  const schema = new Schema<CustomerCopyDocument>(
    { _id: String, customerTagIds: [Number], customerEmail: String, revision: String, beforeId: Number },
    { versionKey: false, strict: 'throw', collection: collectionName },
  );
  return connection.model<CustomerCopyDocument>('CustomerCopy', schema);
}

export function customerCopyStore(connection: Connection, tickets: TicketCollection): CustomerCopyStore {
  const copies = openCollection<CustomerCopyDocument>(connection, collectionName);

  async function idsBefore(customerId: string, beforeId: number, limit: number): Promise<number[]> {
    const options = { projection: { _id: 1 }, sort: { _id: -1 }, limit } as const;
    const found = await tickets.find({ customerId, _id: { $lt: beforeId } }, options).toArray();
    return found.map(({ _id }) => _id);
  }

  async function write(customerId: string, ids: readonly number[], copy: CustomerCopy): Promise<void> {
    await tickets.updateMany({ _id: { $in: [...ids] }, customerId, ...isNotDeleted }, { $set: { ...copy } });
  }

  return {
    set: ({ customerId, ticketId, copy, revision }) =>
      storeCall(async () => {
        const ids = await idsBefore(customerId, aboveAllIds, maxCopiedAtOnce + 1);
        const hasMore = ids.length > maxCopiedAtOnce;
        // Stored first, so that a process that is storing an earlier copy starts over with this one.
        const update = { $set: { ...copy, revision, beforeId: aboveAllIds } };
        await retryUpsert(() => copies.updateOne({ _id: customerId }, update, { upsert: hasMore }));
        await write(customerId, [ticketId, ...ids.slice(0, maxCopiedAtOnce)], copy);
      }),
    continue: (limit = batchSize) =>
      storeCall(async () => {
        const next = await copies.findOne({}, { sort: { _id: 1 } });
        if (!next) return false;
        const { _id: customerId, revision, beforeId, customerTagIds, customerEmail } = next;
        const ids = await idsBefore(customerId, beforeId, limit);
        await write(customerId, ids, { customerTagIds, customerEmail });
        const lastId = ids.at(-1);
        const isSame = { _id: customerId, revision, beforeId };
        if (lastId === undefined || ids.length < limit) await copies.deleteOne(isSame);
        else await copies.updateOne(isSame, { $set: { beforeId: lastId } });
        return true;
      }),
  };
}
