import { retryUpsert, storeCall } from '@ticketing/store/store-error.ts';
import { type Connection, type Model, type mongo, Schema } from 'mongoose';

/** An answer of the ERP system that is kept for a time. */
interface ErpAnswerDocument {
  /** What was asked. */
  _id: string;
  /** The answer in JSON. */
  content: string;
  expiresAt: Date;
  /** The tickets that have used it; absent if they are many. */
  ticketIds?: number[];
}

/**
 * The answers of the ERP system, which all replicas share. Each knows the tickets that have used it, so that one that
 * only a deleted ticket has used is erased with it, also if it arrives or is used after the deletion.
 *
 * Errors of every operation: store_unavailable.
 */
export interface ErpAnswerStore {
  /** An answer that has not expired, and records that a ticket uses it. */
  find(key: string, now: Date, ticketId?: number): Promise<string | undefined>;
  put(key: string, content: string, expiresAt: Date, ticketId?: number): Promise<void>;
  /** Erases what only this ticket has used. */
  eraseOf(ticketId: number): Promise<void>;
  /** Removes expired answers, and those that expire first if there are more than `max`. Returns how many are left. */
  trim(now: Date, max: number): Promise<number>;
}

/** An answer that more tickets have used is nobody's in particular; it ends when it expires. */
export const maxTicketsOfAnswer = 64;
const removedAtOnce = 1000;

/** The model of the answers on a connection. */
export function erpAnswerModel(connection: Connection): Model<ErpAnswerDocument> {
  const schema = new Schema<ErpAnswerDocument>(
    { _id: String, content: String, expiresAt: Date, ticketIds: { type: [Number], default: undefined } },
    { versionKey: false, strict: 'throw', collection: 'erpAnswers' },
  );
  schema.index({ expiresAt: 1 });
  schema.index({ ticketIds: 1 });
  return connection.model<ErpAnswerDocument>('ErpAnswer', schema);
}

/** Opens the answers on a connection. `isDeleted` says whether a ticket was deleted. */
export function erpAnswerStore(
  connection: Connection,
  isDeleted: (ticketId: number) => Promise<boolean>,
): ErpAnswerStore {
  const answers = erpAnswerModel(connection).collection as unknown as mongo.Collection<ErpAnswerDocument>;

  async function recordUse(answer: ErpAnswerDocument, ticketId: number): Promise<void> {
    const { _id, ticketIds } = answer;
    if (ticketIds === undefined || ticketIds.includes(ticketId)) return;
    const isFull = ticketIds.length >= maxTicketsOfAnswer;
    const change = isFull ? { $unset: { ticketIds: 1 as const } } : { $addToSet: { ticketIds: ticketId } };
    await answers.updateOne({ _id, ticketIds: { $exists: true } }, change);
    await eraseIfDeleted(ticketId);
  }

  /** Called after a use was stored: a deletion that comes later finds it, and this finds one that came before. */
  async function eraseIfDeleted(ticketId: number): Promise<void> {
    if (await isDeleted(ticketId)) await eraseOf(ticketId);
  }

  async function eraseOf(ticketId: number): Promise<void> {
    const used = await answers.find({ ticketIds: ticketId }, { projection: { _id: 1 } }).toArray();
    if (used.length === 0) return;
    const areUsed = { _id: { $in: used.map(({ _id }) => _id) } };
    await answers.updateMany(areUsed, { $pull: { ticketIds: ticketId } });
    await answers.deleteMany({ ...areUsed, ticketIds: [] });
  }

  return {
    find: (key, now, ticketId) =>
      storeCall(async () => {
        const answer = await answers.findOne({ _id: key, expiresAt: { $gt: now } });
        if (answer && ticketId !== undefined) await recordUse(answer, ticketId);
        return answer?.content;
      }),
    put: (key, content, expiresAt, ticketId) =>
      storeCall(async () => {
        const use = ticketId === undefined ? {} : { $addToSet: { ticketIds: ticketId } };
        const update = { $set: { content, expiresAt }, ...use };
        await retryUpsert(() => answers.updateOne({ _id: key }, update, { upsert: true }));
        if (ticketId !== undefined) await eraseIfDeleted(ticketId);
      }),
    eraseOf: (ticketId) => storeCall(() => eraseOf(ticketId)),
    trim: (now, max) => storeCall(() => trim(answers, now, max)),
  };
}

async function trim(answers: mongo.Collection<ErpAnswerDocument>, now: Date, max: number): Promise<number> {
  await answers.deleteMany({ expiresAt: { $lte: now } });
  for (;;) {
    const count = await answers.countDocuments({});
    if (count <= max) return count;
    const limit = Math.min(removedAtOnce, count - max);
    const first = await answers.find({}, { projection: { _id: 1 }, sort: { expiresAt: 1 }, limit }).toArray();
    await answers.deleteMany({ _id: { $in: first.map(({ _id }) => _id) } });
  }
}
