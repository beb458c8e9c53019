import { randomUUID } from 'node:crypto';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { isDuplicateKey, storeCall } from '@ticketing/store/database.ts';
import type { Connection, mongo } from 'mongoose';
import type { ReceivedEvent } from '../bus/envelope.ts';

/**
 * Which events have had their effect beyond the store of a service (a mail, a call), so that one that comes again has none.
 */
export interface Inbox {
  /**
   * Runs the effect of an event, unless the event has had it, and answers whether it ran. If that can not be noted,
   * because the process dies or the store is away, the effect runs again when the event comes again a minute later: what
   * it makes is to be keyed by the id of the event.
   *
   * Errors: event_in_hand, while another runs the effect, which passes; store_unavailable; what the effect throws, and
   * then the event may come again at once.
   */
  once(event: Pick<ReceivedEvent, 'id'>, effect: () => Promise<void>): Promise<boolean>;
}

interface InboxDocument {
  /** Group and event. */
  _id: string;
  /** Who runs the effect, and until when nobody else does. */
  owner?: string;
  leaseUntil?: Date;
  isDone?: boolean;
  /** When it was claimed, or done. */
  at: Date;
}

/** Longer than a handler may take. */
const leaseMs = 60_000;
/** Longer than any topic keeps its events. */
const keptSeconds = 30 * 24 * 60 * 60;

const inboxOf = (connection: Connection) =>
  connection.collection('inbox') as unknown as mongo.Collection<InboxDocument>;

/** Opens the inbox of a group of consumers. Source: architecture.md section 4, Consume. */
export function openInbox(connection: Connection, group: string, now: () => number = Date.now): Inbox {
  const inbox = inboxOf(connection);

  /** Answers false if the event has had its effect. */
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
        // If this fails, the lease ends by itself.
        await inbox.deleteOne({ _id, owner }).catch(() => undefined);
        throw error;
      }
      const done = { $set: { isDone: true, at: new Date(now()) }, $unset: { owner: 1, leaseUntil: 1 } } as const;
      await storeCall(() => inbox.updateOne({ _id }, done, { upsert: true }));
      return true;
    },
  };
}

/** Builds the index by which an inbox forgets, after 30 days. */
export async function buildInboxIndex(connection: Connection): Promise<void> {
  await inboxOf(connection).createIndex({ at: 1 }, { expireAfterSeconds: keptSeconds });
}
