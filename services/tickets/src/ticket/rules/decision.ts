import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { EventHeader } from '../../rules/event-header.ts';
import { changeFields, type TicketChange } from './change.ts';
import { reopenedEvent, type TicketEvent, updatedEvent } from './event.ts';
import type { TicketInput, TicketState } from './fields.ts';
import type { WorkedOnChange } from './worked-on.ts';

/** The result of a decision on a ticket: a change, a change of who works on it, both, or neither. */
export interface TicketDecision {
  change?: RecordedChange | undefined;
  workedOn?: WorkedOnChange | undefined;
  /** The message that becomes part of the ticket with the change, or no longer is. */
  conversation?: ConversationStep | undefined;
}

/** The message that is added to a ticket, published (it was a draft), or removed. Exactly one is set. */
export interface ConversationStep {
  added?: number;
  published?: number;
  removed?: number;
}

/** A change of a ticket, with the records of it that are stored in the same write. */
export interface RecordedChange extends TicketChange {
  event: TicketEvent;
  worklogEntry?: WorklogEntry | undefined;
}

/** A change that a person made by hand. Units: `at` in Unix seconds. */
export interface WorklogEntry {
  profileId: number;
  at: number;
  fields: readonly string[];
}

/** Decides to set fields. If no value differs, nothing happens. Units: `now` in Unix seconds. */
export function decideFields(
  ticket: TicketState,
  input: TicketInput,
  now: number,
  header: EventHeader,
): TicketDecision {
  const change = changeFields(ticket, input, now);
  return change.changed.length === 0 ? {} : { change: { ...change, event: updatedEvent(ticket, change, header) } };
}

/**
 * Decides to open a pending ticket whose `dueBy` has passed.
 *
 * Units: `now` in Unix seconds. Source: docs/reference/api.md, Status and closing.
 */
export function decideReopening(ticket: TicketState, now: number, header: EventHeader): TicketDecision {
  if (ticket.status !== TicketStatus.PENDING || ticket.dueBy === null || ticket.dueBy > now) return {};
  const change = changeFields(ticket, { status: TicketStatus.OPEN }, now);
  return { change: { ...change, event: reopenedEvent(ticket, change, header) } };
}
