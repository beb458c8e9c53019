import type { TicketChanged, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { invalidCursor, parseCursor } from './rules/cursor.ts';
import type { EventFilter, EventStore, FeedBounds, StoredEvent } from './store.ts';

/** How many positions one read of the feed looks at, so that a filter that matches little does not read all of it. */
export const maxScanned = 5_000;
/** How many events of one ticket one read looks at, if types are requested too. */
const maxScannedOfTicket = 1_000;

/** A part of the feed: events, and the position after which the next part begins. */
export interface FeedPage {
  events: StoredEvent[];
  next: number;
}

/**
 * Reads the first matching events after a position, up to a position that readers may read. Where a filter matches little,
 * there are fewer events than the limit, and `next` has advanced nevertheless.
 *
 * Errors: cursor_expired if events after the position were removed already, also while this reads.
 */
export async function readFeed(
  store: EventStore,
  after: number,
  upTo: number,
  filter: EventFilter,
  limit: number,
): Promise<FeedPage> {
  if (after >= upTo) return { events: [], next: after };
  const page = await readPart(store, after, upTo, filter, limit);
  // A gap before the first event comes from the filter, or from a removal since the bounds were read.
  if (page.events[0]?.position !== after + 1) requireKept(after, await store.bounds());
  return page;
}

/**
 * Reads a part of the feed: scans a limited number of events, and does not notice removed ones.
 */
export async function readPart(
  store: EventStore,
  after: number,
  upTo: number,
  filter: EventFilter,
  limit: number,
): Promise<FeedPage> {
  const { types, ticketId } = filter;
  if (ticketId !== undefined && types.length > 0) {
    const ofTicket = await store.between(after, upTo, { types: [], ticketId }, maxScannedOfTicket);
    const events = ofTicket.filter(({ event }) => types.includes(event.type)).slice(0, limit);
    const isWhole = ofTicket.length < maxScannedOfTicket;
    return { events, next: nextAfter(events, limit, isWhole ? upTo : (ofTicket.at(-1)?.position ?? upTo)) };
  }
  // An index finds the events of a ticket, so that the others need not be looked at.
  const end = types.length > 0 ? Math.min(upTo, after + maxScanned) : upTo;
  const events = await store.between(after, end, filter, limit);
  return { events, next: nextAfter(events, limit, end) };
}

/** Returns the position up to which the feed was scanned: the last event if the limit was reached, otherwise `end`. */
function nextAfter(events: readonly StoredEvent[], limit: number, end: number): number {
  return events.length === limit ? (events.at(-1)?.position ?? end) : end;
}

/** Whether an event passes a filter. */
export function passesFilter({ types, ticketId }: EventFilter, event: TicketChanged): boolean {
  return (types.length === 0 || types.includes(event.type)) && (ticketId === undefined || ticketId === event.ticketId);
}

/** Returns the filter of a request. */
export function toFilter(request: { types: readonly TicketChangeType[]; ticketId?: number | undefined }): EventFilter {
  return { types: request.types, ticketId: request.ticketId };
}

/**
 * Returns the position at which a reader begins: its cursor, or the oldest event. `pointer` points to the cursor in the
 * request.
 *
 * Errors: invalid_cursor, also for one beyond the end; cursor_expired.
 */
export async function findStart(
  store: EventStore,
  cursor: string | undefined,
  pointer: string,
): Promise<{ after: number; upTo: number }> {
  const position = cursor === undefined ? undefined : parseCursor(cursor, pointer);
  const bounds = await store.bounds();
  const upTo = bounds?.last ?? 0;
  if (position === undefined) return { after: (bounds?.first ?? 1) - 1, upTo };
  requireKept(position, bounds);
  // After a crash of the database the end may be behind a cursor, until an event is appended again.
  if (position > upTo && !(await store.has(position))) throw invalidCursor(pointer);
  return { after: position, upTo };
}

function requireKept(after: number, bounds: FeedBounds | undefined): void {
  if (bounds && after + 1 < bounds.first)
    throw new DomainError('failed_precondition', 'cursor_expired', 'Events after this cursor were removed already.');
}
