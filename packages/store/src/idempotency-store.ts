import { randomUUID } from 'node:crypto';
import type { ClaimedRequest, IdempotencyRecords } from '@ticketing/service-kit/server/idempotency.ts';
import { type Connection, type Model, mongo, Schema } from 'mongoose';
import { isDuplicateKey, storeCall } from './database.ts';

/** The requests with a key that this service has answered. Errors of every operation: store_unavailable. */
export interface IdempotencyStore extends IdempotencyRecords {
  /** Erases the answers that tell of a ticket. */
  eraseAnswersAbout(ticketId: number): Promise<void>;
  /** Removes what has expired. */
  removeExpired(): Promise<void>;
}

interface IdempotencyDocument {
  _id: string;
  requestId: string;
  fingerprint: string;
  state: 'running' | 'done' | 'erased';
  lease: string;
  leaseUntil: Date;
  reserved: Record<string, number>;
  answer: mongo.Binary | null;
  ticketIds: readonly number[];
  expiresAt: Date;
}

const leaseMs = 10_000;
const keptMs = 24 * 60 * 60 * 1000;

/** The model of the requests on a connection. */
export function idempotencyModel(connection: Connection): Model<IdempotencyDocument> {
  const schema = new Schema<IdempotencyDocument>(
    {
      _id: String,
      requestId: String,
      fingerprint: String,
      state: String,
      lease: String,
      leaseUntil: Date,
      reserved: Schema.Types.Mixed,
      answer: Schema.Types.Mixed,
      ticketIds: [Number],
      expiresAt: Date,
    },
    { versionKey: false, collection: 'idempotencyKeys', minimize: false },
  );
  schema.index({ ticketIds: 1 }).index({ expiresAt: 1 });
  return connection.model<IdempotencyDocument>('IdempotencyKey', schema);
}

/**
 * Opens the requests on a connection; `deletedOf` answers those of some tickets that are deleted. Units: `now` in Unix
 * milliseconds.
 */
export function idempotencyStore(
  connection: Connection,
  deletedOf: (ticketIds: readonly number[]) => Promise<number[]>,
  now: () => number = Date.now,
): IdempotencyStore {
  const records = idempotencyModel(connection).collection as unknown as mongo.Collection<IdempotencyDocument>;
  const held = ({ id, lease }: ClaimedRequest) => ({ _id: id, lease, state: 'running' as const });

  async function insert(id: string, fingerprint: string): Promise<ClaimedRequest | undefined> {
    const lease = randomUUID();
    const requestId = randomUUID();
    try {
      await records.insertOne({
        _id: id,
        requestId,
        fingerprint,
        state: 'running',
        lease,
        leaseUntil: new Date(now() + leaseMs),
        reserved: {},
        answer: null,
        ticketIds: [],
        expiresAt: new Date(now() + keptMs),
      });
      return { id, requestId, lease, reserved: {} };
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }

  /** The process that had it has died: its lease has passed. */
  async function takeOver(id: string, fingerprint: string): Promise<ClaimedRequest | undefined> {
    const lease = randomUUID();
    const abandoned = { _id: id, fingerprint, state: 'running' as const, leaseUntil: { $lt: new Date(now()) } };
    const update = { $set: { lease, leaseUntil: new Date(now() + leaseMs) } };
    const taken = await records.findOneAndUpdate(abandoned, update, { returnDocument: 'after' });
    return taken ? { id, requestId: taken.requestId, lease, reserved: taken.reserved } : undefined;
  }

  async function eraseAnswersAbout(ticketId: number): Promise<void> {
    const erased = { $set: { state: 'erased' as const, answer: null, ticketIds: [] } };
    await storeCall(() => records.updateMany({ ticketIds: ticketId }, erased));
  }

  return {
    claim: (id, fingerprint) =>
      storeCall(async () => {
        for (;;) {
          const claim = (await insert(id, fingerprint)) ?? (await takeOver(id, fingerprint));
          if (claim) return { state: 'claimed', claim };
          const known = await records.findOne({ _id: id });
          if (known && known.expiresAt.getTime() <= now()) {
            await records.deleteOne({ _id: id, expiresAt: known.expiresAt });
          } else if (known?.state === 'done' && known.answer) {
            const answer = new Uint8Array(known.answer.buffer.subarray(0, known.answer.length()));
            return { state: 'done', fingerprint: known.fingerprint, answer };
          } else if (known) {
            return { state: known.state === 'erased' ? 'erased' : 'running', fingerprint: known.fingerprint };
          }
        }
      }),
    reserve: (claim, name, proposed) =>
      storeCall(async () => {
        const field = `reserved.${name}`;
        await records.updateOne({ ...held(claim), [field]: { $exists: false } }, { $set: { [field]: proposed } });
        const kept = (await records.findOne({ _id: claim.id }))?.reserved[name];
        if (kept === undefined) throw new Error('the request was claimed by another');
        return kept;
      }),
    async complete(claim, answer, ticketIds) {
      const done = { state: 'done' as const, answer: new mongo.Binary(answer), ticketIds };
      await storeCall(() => records.updateOne(held(claim), { $set: done }));
      // A deletion that came before this answer was kept did not find it.
      for (const ticketId of await deletedOf(ticketIds)) await eraseAnswersAbout(ticketId);
    },
    async release(claim) {
      await storeCall(() => records.deleteOne(held(claim)));
    },
    eraseAnswersAbout,
    async removeExpired() {
      await storeCall(() => records.deleteMany({ expiresAt: { $lte: new Date(now()) } }));
    },
  };
}
