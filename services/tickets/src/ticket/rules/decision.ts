import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { EventHeader } from '../../rules/event-header.ts';
import { changeFields, type TicketChange } from './change.ts';
import { fieldChanges, reopenedEvent, type TicketEvent, updatedEvent } from './event.ts';
import type { TicketFieldName, TicketInput, TicketState } from './fields.ts';
import type { MessageWords } from './search-words.ts';
import { countsAsSpam } from './spam.ts';
import type { WorkedOnChange } from './worked-on.ts';

/** The result of a decision on a ticket: a change, a change of who works on it, both, or neither. */
export interface TicketDecision {
  change?: RecordedChange | undefined;
  workedOn?: WorkedOnChange | undefined;
  /** The message that becomes part of the ticket with the change, or no longer is. */
  conversation?: ConversationStep | undefined;
}

/** The message that is added to a ticket, published (it was a draft), changed, or removed: exactly one of these is set. */
export interface ConversationStep {
  added?: number;
  published?: number;
  changed?: number;
  removed?: number;
  /** The search words of a message that is added or published. */
  words?: MessageWords | undefined;
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

/** The facts that decide whether a change ends the wait for an execution by the system. */
interface AutoExecutionContext {
  /** Whether a person makes the change. */
  isByPerson: boolean;
  /** The tag that marks spam at run time. */
  spamTagId: number | null;
}

/**
 * Adds the effects of a change of a ticket on the execution of its intents by the system: after a change by a person or
 * a message of the customer, and on closed tickets and spam, the system executes nothing any more.
 *
 * Source: docs/reference/api.md, Automatic execution.
 */
export function withAutoExecution(
  before: TicketState,
  change: RecordedChange,
  { isByPerson, spamTagId }: AutoExecutionContext,
): RecordedChange {
  const { after, event } = change;
  const isIntervention = isByPerson || event.cause === 'message';
  const isOver = isIntervention || after.status === TicketStatus.CLOSED || countsAsSpam(after, spamTagId);
  const marked = isIntervention ? noted(change) : change;
  if (!isOver || after.autoExecuteAt === null) return marked;
  const ended = { ...marked.after, autoExecuteAt: null };
  const others = marked.changed.filter((name) => name !== 'autoExecuteAt');
  const nowChanged: TicketFieldName[] = before.autoExecuteAt === null ? others : [...others, 'autoExecuteAt'];
  const changes = fieldChanges(nowChanged, before, ended);
  return { ...marked, after: ended, changed: nowChanged, event: { ...event, changes } };
}

/** Marks a change as one after which the system executes nothing that was proposed before. */
function noted({ after, changed, ...change }: RecordedChange): RecordedChange {
  return {
    ...change,
    after: { ...after, interventionVersion: after.version },
    changed: [...changed, 'interventionVersion'],
  };
}
