import { DomainError } from '@ticketing/errors/domain-error.ts';
import { openCollection } from '@ticketing/store/connection/open-collection.ts';
import { serverTime } from '@ticketing/store/connection/server-time.ts';
import { storeCall } from '@ticketing/store/document/store-error.ts';
import { type Leased, openLeases } from '@ticketing/store/leases/lease.ts';
import type { Connection } from 'mongoose';
import type { ReceivedEvent } from '../bus/envelope.ts';

/**
 * Records which events have had their effect outside the store of a service (a mail, a call), so that an event that is
 * delivered again does not have its effect twice.
 */
export interface Inbox {
  /**
   * Runs the effect of an event, unless it has run before, and returns whether it ran. If this cannot be recorded,
   * because the process dies or the store is unreachable, the effect runs again when the event is delivered again after
   * a minute. The effect should therefore use the id of the event as an idempotency key.
   *
   * Errors: event_in_hand, a transient error, while another process runs the effect; store_unavailable; the error of
   * the effect, after which the effect may run again at once.
   */
  once(event: Pick<ReceivedEvent, 'id'>, effect: () => Promise<void>): Promise<boolean>;
}

/** The record of an event for a consumer group. The id is the group and the id of the event. */
interface InboxDocument extends Leased {
  isDone?: boolean;
  /** When the effect was claimed, and later when it was done. */
  at: Date;
}

/** The duration of the lease: longer than a handler may take. */
const durationMs = 60_000;
/** How long a record is kept: longer than the retention of any topic. */
const keptMs = 30 * 24 * 60 * 60 * 1000;

const openDocuments = (connection: Connection) => openCollection<InboxDocument>(connection, 'inbox');

/** Opens the inbox of a group of consumers. Source: docs/reference/architecture.md, Consume. */
export function openInbox(
  connection: Connection,
  group: string,
  now: () => number = () => serverTime(connection),
): Inbox {
  const inbox = openDocuments(connection);
  const leases = openLeases(inbox, { connection, durationMs, now });

  return {
    async once({ id }, effect) {
      const _id = `${group}/${id}`;
      const open = { _id, isDone: { $exists: false } };
      const at = new Date(now());
      const claimed = await storeCall(() => leases.claim(open, { set: { at }, setOnInsert: {} }));
      if (!claimed) {
        if ((await storeCall(() => inbox.findOne({ _id })))?.isDone) return false;
        throw new DomainError('unavailable', 'event_in_hand', 'Another process is handling this event.');
      }
      try {
        await effect();
      } catch (error) {
        // If this fails, the lease expires.
        await inbox.deleteOne({ _id, 'lease.owner': claimed.lease.owner }).catch(() => undefined);
        throw error;
      }
      const done = { $set: { isDone: true, at: new Date(now()), lease: null } };
      await storeCall(() => inbox.updateOne({ _id }, done, { upsert: true }));
      return true;
    },
  };
}

/** Removes old records from all inboxes of a database: those of events that no topic keeps any more. */
export async function removeOldFromInbox(connection: Connection, now: number = serverTime(connection)): Promise<void> {
  await storeCall(() => openDocuments(connection).deleteMany({ at: { $lt: new Date(now - keptMs) } }));
}

/** Builds the index for finding old records. */
export async function buildInboxIndex(connection: Connection): Promise<void> {
  await openDocuments(connection).createIndex({ at: 1 });
}
