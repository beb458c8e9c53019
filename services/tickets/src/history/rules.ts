import type { Channel, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { HistoryEntryType, HistorySubChannel } from '@ticketing/contracts/ticketing/tickets/v1/ticket_pb.ts';

/** The subject of a history: the customer and the contract of a ticket; without both, only the ticket itself. */
export interface HistorySubject {
  ticketId: number;
  customerId: string | null;
  contractId: string | null;
}

/** An event of a history that a system has recorded. Units: `createdAt` in Unix seconds. */
export interface RecordedEntry {
  /** Its id in the system that has recorded it. */
  externalId: string;
  type: HistoryEntryType;
  customerId: string | null;
  contractId: string | null;
  subChannel: HistorySubChannel | null;
  subject: string | null;
  url: string | null;
  /** Undefined: an entry that is known keeps its time, and a new one gets the current time. */
  createdAt: number | undefined;
}

/** One line of a history as it is shown: a ticket, or a recorded entry. Units: `createdAt` in Unix seconds. */
export interface HistoryLine {
  id: number;
  type: HistoryEntryType;
  channel: Channel | null;
  subChannel: HistorySubChannel | null;
  status: TicketStatus | null;
  subject: string | null;
  summary: string | null;
  url: string | null;
  createdAt: number;
}

export interface HistoryCounts {
  tickets: number;
  openTickets: number;
  entries: number;
}

/** The position of a line in a history. Units: `createdAt` in Unix seconds. */
export interface HistoryKey {
  id: number;
  createdAt: number;
  isTicket: boolean;
}

/** A part of a list. */
export interface Part {
  skip: number;
  limit: number;
}

/**
 * Finds the parts of two lists that have to be read for a page of both, merged. A line of one list moves down at most
 * by the length of the other list, so that many lines before the page need not be read, however deep it is. `skip` is how
 * many merged lines come before the page.
 */
export function pageParts({ tickets, entries }: HistoryCounts, { skip, limit }: Part) {
  const partBefore = (otherLength: number): Part => {
    const skipped = Math.max(0, skip - otherLength);
    return { skip: skipped, limit: skip + limit - skipped };
  };
  const parts = { tickets: partBefore(entries), entries: partBefore(tickets) };
  return { ...parts, skip: skip - parts.tickets.skip - parts.entries.skip };
}

/** Merges lines, the newest first. Of the same second, tickets come first, and then the higher id. */
export function mergeNewestFirst(keys: readonly HistoryKey[]): HistoryKey[] {
  return keys.toSorted(
    (left, right) =>
      right.createdAt - left.createdAt || Number(right.isTicket) - Number(left.isTicket) || right.id - left.id,
  );
}
