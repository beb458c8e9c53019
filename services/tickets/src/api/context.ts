import type { ReadSettings } from '../settings.ts';
import type { IdSequence } from '../store/id-sequence.ts';
import type { ProfileStore } from '../store/profile-store.ts';
import type { TagStore } from '../store/tag-store.ts';
import type { TicketStore } from '../store/ticket-store.ts';
import type { CursorCodec } from './cursor.ts';
import type { KeyedQueue } from './keyed-queue.ts';

/** What the handlers of this service work with. */
export interface Context {
  tickets: TicketStore;
  tags: TagStore;
  profiles: ProfileStore;
  ticketIds: IdSequence;
  tagIds: IdSequence;
  settings: ReadSettings;
  cursors: CursorCodec;
  /** One change of a ticket at a time in this process; between processes its version decides. */
  ticketQueue: KeyedQueue<number>;
  /** Unix seconds. */
  now(): number;
}
