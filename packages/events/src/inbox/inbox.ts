import { DomainError } from '@ticketing/errors/domain-error.ts';
import { type Leased, openLeases } from '@ticketing/store/lease.ts';
import { serverTime } from '@ticketing/store/server-time.ts';
import { storeCall } from '@ticketing/store/store-error.ts';
import type { Connection, mongo } from 'mongoose';
import type { ReceivedEvent } from '../bus/envelope.ts';

/**
 * Remembers which events have had their effect beyond the store of a service (a mail, a call), so that an event that is
 * delivered again has none.
 */
export interface Inbox {
  /**
   * Runs the effect of an event, unless the event has had it, and returns whether it ran. If that cannot be recorded,
   * because the process dies or the store is unreachable, the effect runs again when the event is delivered again a minute
   * later: what it makes is to be keyed by the id of the event.
   *
   * Errors: event_in_hand, while another process runs the effect, which is transient; store_unavailable; what the effect
   * throws, and then the event may be delivered again at once.
   */
  once(event: Pick<ReceivedEvent, 'id'>, effect: () => Promise<void>): Promise<boolean>;
}

/** An event of a group: its id is made of both. */
interface InboxDocument extends Leased {
  isDone?: boolean;
  /** When the effect was claimed, and later when it was done. */
  at: Date;
}

/** Longer than a handler may take. */
const durationMs = 60_000;
/** Longer than any topic keeps its events. */
const keptMs = 30 * 24 * 60 * 60 * 1000;

const collectionOf = (connection: Connection) =>
  connection.collection('inbox') as unknown as mongo.Collection<InboxDocument>;

/** Opens the inbox of a group of consumers. Source: docs/reference/architecture.md, Consume. */
export function openInbox(
  connection: Connection,
  group: string,
  now: () => number = () => serverTime(connection),
): Inbox {
  const inbox = collectionOf(connection);
  const leases = openLeases(inbox, { connection, durationMs, now });

  return {
    async once({ id }, effect) {
      const _id = `${group}/${id}`;
      const open = { _id, isDone: { $exists: false } };
      const at = new Date(now());
      const claimed = await storeCall(() => leases.claim(open, { set: { at }, setOnInsert: {} }));
      if (!claimed) {
        if ((await storeCall(() => inbox.findOne({ _id })))?.isDone) return false;
        throw new DomainError('unavailable', 'event_in_hand', 'The effect of this event is being run.');
      }
      try {
        await effect();
      } catch (error) {
        // If this fails, the lease ends by itself.
        await inbox.deleteOne({ _id, 'lease.owner': claimed.lease.owner }).catch(() => undefined);
        throw error;
      }
      const done = { $set: { isDone: true, at: new Date(now()), lease: null } };
      await storeCall(() => inbox.updateOne({ _id }, done, { upsert: true }));
      return true;
    },
  };
}

/** Forgets the events of all inboxes of a database that no topic keeps any more. */
export async function removeOldFromInbox(connection: Connection, now: number = serverTime(connection)): Promise<void> {
  await storeCall(() => collectionOf(connection).deleteMany({ at: { $lt: new Date(now - keptMs) } }));
}

/** Builds the index by which old events are found. */
export async function buildInboxIndex(connection: Connection): Promise<void> {
  await collectionOf(connection).createIndex({ at: 1 });
}
