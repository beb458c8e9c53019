import { randomUUID } from 'node:crypto';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/database.ts';
import type { Connection, mongo } from 'mongoose';
import type { ReceivedEvent } from '../bus/envelope.ts';

/**
 * Remembers which events have had their effect outside the store of a service (a mail, a call), so that an event that
 * is delivered again does not have it twice.
 */
export interface Inbox {
  /**
   * Runs the effect of an event unless it has run before, and returns whether it ran. If the process dies, or the store
   * becomes unavailable, before the run is recorded, the effect runs a second time when the event is delivered again
   * after the lease: use the id of the event as a key, so that the receiver can recognise the repetition.
   *
   * Errors: event_in_hand (transient), while another process runs the effect; store_unavailable; what the effect
   * throws: then the next delivery may run it at once.
   */
  once(event: Pick<ReceivedEvent, 'id'>, effect: () => Promise<void>): Promise<boolean>;
}

interface InboxDocument {
  /** Group and event. */
  _id: string;
  /** Who runs the effect, and until when nobody else may. */
  owner?: string;
  leaseUntil?: Date;
  isDone?: boolean;
  /** When the effect was claimed, and later when it was done. */
  at: Date;
}

/** Longer than a handler may take. */
const leaseMs = 60_000;
/** Longer than any topic keeps its events. */
const keptSeconds = 30 * 24 * 60 * 60;

const inboxOf = (connection: Connection) =>
  connection.collection('inbox') as unknown as mongo.Collection<InboxDocument>;

/** Opens the inbox of a consumer group. Source: architecture.md section 4, Consume. */
export function openInbox(connection: Connection, group: string, now: () => number = Date.now): Inbox {
  const inbox = inboxOf(connection);

  /** Claims the right to run an effect. Returns false if the effect has run before. */
  async function claim(_id: string, owner: string): Promise<boolean> {
    const at = new Date(now());
    const isFree = { _id, isDone: { $exists: false }, leaseUntil: { $lte: at } };
    const leaseUntil = new Date(now() + leaseMs);
    try {
      await inbox.updateOne(isFree, { $set: { owner, leaseUntil, at } }, { upsert: true });
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const known = await inbox.findOne({ _id });
    if (known?.isDone) return false;
    throw new DomainError('unavailable', 'event_in_hand', 'The effect of this event is being run.');
  }

  return {
    async once({ id }, effect) {
      const _id = `${group}/${id}`;
      const owner = randomUUID();
      if (!(await storeCall(() => claim(_id, owner)))) return false;
      try {
        await effect();
      } catch (error) {
        // If this fails, the next delivery has to wait until the lease expires.
        await inbox.deleteOne({ _id, owner }).catch(() => undefined);
        throw error;
      }
      const done = { $set: { isDone: true, at: new Date(now()) }, $unset: { owner: 1, leaseUntil: 1 } } as const;
      await storeCall(() => inbox.updateOne({ _id }, done, { upsert: true }));
      return true;
    },
  };
}

/** Builds the TTL index that removes the entries of an inbox after 30 days. */
export async function buildInboxIndex(connection: Connection): Promise<void> {
  await inboxOf(connection).createIndex({ at: 1 }, { expireAfterSeconds: keptSeconds });
}
