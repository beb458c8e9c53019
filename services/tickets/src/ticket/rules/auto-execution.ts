import { TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { RecordedChange } from './decision.ts';
import { fieldChanges } from './event.ts';
import type { TicketFieldName, TicketState } from './fields.ts';
import { countsAsSpam } from './spam.ts';

/** The facts that decide whether a change ends the wait for an execution by the system. */
export interface AutoExecutionContext {
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
