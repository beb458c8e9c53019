import { maxClockSkewMs } from '@ticketing/runtime/runtime.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { retryUpsert, storeCall } from '@ticketing/store/document/store-error.ts';
import { type Connection, type Model, type mongo, Schema } from 'mongoose';

/** A response of the ERP system that is kept for a time. */
interface ErpResponseDocument {
  /** The key of the request. */
  _id: string;
  /** The response in JSON. */
  content: string;
  expiresAt: Date;
  /** The tickets that have used it; absent if they are many. */
  ticketIds?: number[];
}

/**
 * The responses of the ERP system, which all replicas share. Each lists the tickets that have used it: a response that
 * only a deleted ticket has used is erased with the ticket, even if it arrives or is used after the deletion.
 *
 * Errors of every operation: store_unavailable.
 */
export interface ErpResponseStore {
  /**
   * Returns a response that expires within `keptMs`, and records that a ticket uses it. One that expires later was kept
   * before the clock went back.
   */
  find(key: string, valid: { now: number; keptMs: number }, ticketId?: number): Promise<string | undefined>;
  put(key: string, content: string, expiresAt: Date, ticketId?: number): Promise<void>;
  /** Erases the responses that only this ticket has used. */
  eraseByTicket(ticketId: number): Promise<void>;
  /** Removes expired responses, and those that expire first if there are more than `max`. Returns how many are left. */
  trim(now: Date, max: number): Promise<number>;
}

/** A response that more tickets have used is not erased with any of them; it stays until it expires. */
export const maxTicketsOfResponse = 64;
const removedAtOnce = 1000;
const collectionName = 'erpResponses';

export function erpResponseModel(connection: Connection): Model<ErpResponseDocument> {
  const schema = new Schema<ErpResponseDocument>(
    { _id: String, content: String, expiresAt: Date, ticketIds: { type: [Number], default: undefined } },
    { versionKey: false, strict: 'throw', collection: collectionName },
  );
  schema.index({ expiresAt: 1 });
  schema.index({ ticketIds: 1 });
  return connection.model<ErpResponseDocument>('ErpResponse', schema);
}

/** Opens the responses on a connection. `isDeleted` says whether a ticket was deleted. */
export function erpResponseStore(
  connection: Connection,
  isDeleted: (ticketId: number) => Promise<boolean>,
): ErpResponseStore {
  const responses = openCollection<ErpResponseDocument>(connection, collectionName);

  async function recordUse(response: ErpResponseDocument, ticketId: number): Promise<void> {
    const { _id, ticketIds } = response;
    if (ticketIds === undefined || ticketIds.includes(ticketId)) return;
    const isFull = ticketIds.length >= maxTicketsOfResponse;
    const change = isFull ? { $unset: { ticketIds: 1 as const } } : { $addToSet: { ticketIds: ticketId } };
    await responses.updateOne({ _id, ticketIds: { $exists: true } }, change);
    await eraseIfDeleted(ticketId);
  }

  /** Called after a use was stored: a later deletion finds the use, and this call finds an earlier deletion. */
  async function eraseIfDeleted(ticketId: number): Promise<void> {
    if (await isDeleted(ticketId)) await eraseByTicket(ticketId);
  }

  async function eraseByTicket(ticketId: number): Promise<void> {
    const used = await responses.find({ ticketIds: ticketId }, { projection: { _id: 1 } }).toArray();
    if (used.length === 0) return;
    const areUsed = { _id: { $in: used.map(({ _id }) => _id) } };
    await responses.updateMany(areUsed, { $pull: { ticketIds: ticketId } });
    await responses.deleteMany({ ...areUsed, ticketIds: [] });
  }

  return {
    find: (key, { now, keptMs }, ticketId) =>
      storeCall(async () => {
        const expiresAt = { $gt: new Date(now), $lte: new Date(now + keptMs + maxClockSkewMs) };
        const response = await responses.findOne({ _id: key, expiresAt });
        if (response && ticketId !== undefined) await recordUse(response, ticketId);
        return response?.content;
      }),
    put: (key, content, expiresAt, ticketId) =>
      storeCall(async () => {
        const use = ticketId === undefined ? {} : { $addToSet: { ticketIds: ticketId } };
        const update = { $set: { content, expiresAt }, ...use };
        await retryUpsert(() => responses.updateOne({ _id: key }, update, { upsert: true }));
        if (ticketId !== undefined) await eraseIfDeleted(ticketId);
      }),
    eraseByTicket: (ticketId) => storeCall(() => eraseByTicket(ticketId)),
    trim: (now, max) => storeCall(() => trim(responses, now, max)),
  };
}

async function trim(responses: mongo.Collection<ErpResponseDocument>, now: Date, max: number): Promise<number> {
  await responses.deleteMany({ expiresAt: { $lte: now } });
  for (;;) {
    const count = await responses.countDocuments({});
    if (count <= max) return count;
    const limit = Math.min(removedAtOnce, count - max);
    const first = await responses.find({}, { projection: { _id: 1 }, sort: { expiresAt: 1 }, limit }).toArray();
    await responses.deleteMany({ _id: { $in: first.map(({ _id }) => _id) } });
  }
}
