import { type AiSupportLevel, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { TicketDecision } from '../../ticket/rules/decision.ts';
import { executedEvent } from '../../ticket/rules/event.ts';
import type { TicketState } from '../../ticket/rules/fields.ts';
import { agentsOf, changedIntents, type IntentState } from '../../ticket/rules/intent.ts';
import { decidePatch, type PatchContext, type TicketPatch } from '../../ticket/rules/patch.ts';
import type { WorkedOn } from '../../ticket/rules/worked-on.ts';

/** The effects of the execution of an intent on its ticket. Units: times in Unix seconds. */
export interface Execution {
  intentId: number;
  /** All intents of the ticket, as they are afterwards. */
  intents: readonly IntentState[];
  /** The changes to the ticket. */
  patch: TicketPatch;
  closesTicket: boolean;
  /** Undefined: as before. */
  aiSupportLevel: AiSupportLevel | undefined;
  autoExecuteAt: number | null;
}

/**
 * Decides what an execution does to its ticket: always a new version, because the outcome is new.
 *
 * Source: docs/reference/api.md, Execution of an intent.
 */
export function decideExecution(
  stored: { ticket: TicketState; workedOn: readonly WorkedOn[] },
  { intentId, intents, patch, closesTicket, aiSupportLevel, autoExecuteAt }: Execution,
  context: PatchContext,
): TicketDecision {
  const { ticket } = stored;
  const after = changedIntents(ticket.intents, intents);
  const status = closesTicket ? TicketStatus.CLOSED : (patch.input.status ?? ticket.status);
  const input = {
    ...patch.input,
    intents: after,
    aiAgentIds: agentsOf(after),
    // An automatic execution that a person has cancelled stays cancelled, whatever the list of intents says.
    autoExecuteAt: ticket.autoExecuteAt === null ? null : autoExecuteAt,
    status,
    ...(aiSupportLevel === undefined ? {} : { aiSupportLevel }),
  };
  const decision = decidePatch(stored, { ...patch, input }, context);
  const { change } = decision;
  if (!change) throw new Error('an execution is a change');
  return { ...decision, change: { ...change, event: executedEvent(ticket, change, context.header, intentId) } };
}
