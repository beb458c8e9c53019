import type { UpdateTicketsRequest } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { KeyedQueue } from '@ticketing/runtime/keyed-queue.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import type { CursorCodec } from '@ticketing/store/cursor.ts';
import type { IdSequence } from '@ticketing/store/id-sequence.ts';
import type { IdempotencyStore, ResponseSubject } from '@ticketing/store/idempotency-store.ts';
import type { ProfileStore } from '@ticketing/store/profile-store.ts';
import type { TicketSettings } from '../settings.ts';
import type { AnalysisRequestStore } from '../store/analysis-request-store.ts';
import type { BulkStore } from '../store/bulk-store.ts';
import type { TagStore } from '../store/tag-store.ts';
import type { TicketStores } from '../store/ticket-stores.ts';

/** What the handlers of this service work with. */
export interface Context extends TicketStores {
  tags: TagStore;
  profiles: ProfileStore;
  analysisRequests: AnalysisRequestStore;
  bulkStore: BulkStore;
  idempotency: IdempotencyStore;
  bulks: Bulks;
  ticketIds: IdSequence;
  tagIds: IdSequence;
  settings(): Promise<TicketSettings>;
  cursors: CursorCodec;
  /** One change of a ticket at a time in this process; between processes its version decides. */
  changeQueue: KeyedQueue<number>;
  /** Unix seconds. */
  now(): number;
  newEventId(): string;
}

/** The kind of a stored response's subject that is a ticket. */
export const ticketSubject = (id: number): ResponseSubject => ({ kind: 'Ticket', id });

/** Who sent a bulk, and in which trace. */
export type BulkCall = Pick<Call, 'caller' | 'trace'>;

/** Bulks that are being carried out. */
export interface Bulks {
  /**
   * Records a bulk that has been checked, reserves its tickets if it names versions, and applies it.
   *
   * Errors: stale_version, and nothing is applied; concurrent_change, if another process has given it up.
   */
  run(id: string, request: UpdateTicketsRequest, call: BulkCall): Promise<void>;
  /** Waits a moment for a bulk that has reserved a ticket; one that nobody works on any more is finished here. */
  settle(id: string, ticketId: number): Promise<void>;
  /** Finishes the bulks that nobody works on any more. */
  finishAbandoned(): Promise<void>;
}
