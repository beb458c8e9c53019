import { type AiSupportLevel, SpamStatus, TicketStatus } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import type { EventHeader } from '../rules/event-header.ts';
import { changeFields } from '../ticket/rules/change.ts';
import type { TicketDecision } from '../ticket/rules/decision.ts';
import { executedEvent, updatedEvent } from '../ticket/rules/event.ts';
import type { TicketInput, TicketState } from '../ticket/rules/fields.ts';
import { changedIntents, type IntentState, isExecuted, listAgents } from '../ticket/rules/intent.ts';
import { decidePatch, type PatchContext, type TicketPatch } from '../ticket/rules/patch.ts';
import { type SlaRules, withStricterTargets } from '../ticket/rules/sla.ts';
import { countsAsSpam, isManual } from '../ticket/rules/spam.ts';
import type { WorkedOn } from '../ticket/rules/worked-on.ts';

/** The result of an analysis. A part that was not analysed is undefined. Units: times in Unix seconds. */
export interface Analysis {
  /** The version of the ticket that was analysed. */
  ticketVersion: number;
  isRefresh: boolean;
  /** Null: not known. */
  text:
    | { sentiment: string | null; language: string | null; languageCode: string | null; summary: string | null }
    | undefined;
  tagIds: readonly number[];
  spamStatus: SpamStatus | undefined;
  intents:
    | { intents: readonly IntentState[]; aiSupportLevel: AiSupportLevel; autoExecuteAt: number | null }
    | undefined;
}

/** The context of a decision on an analysis. Units: `now` in Unix seconds. */
interface AnalysisContext {
  now: number;
  sla: SlaRules;
  header: EventHeader;
  /** The tag that marks spam at run time. */
  spamTagId: number | null;
}

/**
 * Decides what an analysis changes in a ticket. A person's decisions stay: a manual spam status, tags, and a summary that
 * is there, unless the analysis was asked for again. On spam, no intents are proposed, and executed ones stay.
 *
 * Source: docs/reference/api.md, Detection; docs/reference/api.md, Spam.
 */
export function decideAnalysis(
  ticket: TicketState,
  analysis: Analysis,
  { now, sla, header, spamTagId }: AnalysisContext,
): TicketDecision {
  const spamStatus = spamStatusAfter(ticket.spamStatus, analysis.spamStatus);
  const input: TicketInput = {
    ...textAfter(ticket, analysis),
    ...tagsAfter(ticket, analysis.tagIds, sla),
    spamStatus,
  };
  const tagIds = input.tagIds ?? ticket.tagIds;
  const isMarked = countsAsSpam({ spamStatus, tagIds }, spamTagId);
  Object.assign(input, intentsAfter(ticket, analysis, isMarked));
  const change = changeFields(ticket, withStricterTargets(ticket, input, sla), now);
  if (change.changed.length === 0) return {};
  const cause = analysis.isRefresh ? 'refresh' : 'analysis';
  return { change: { ...change, event: { ...updatedEvent(ticket, change, header), cause } } };
}

function textAfter(ticket: TicketState, { text, isRefresh }: Analysis): TicketInput {
  if (!text) return {};
  const { summary, ...others } = text;
  return { ...others, ...(ticket.summary === null || isRefresh ? { summary: summary ?? ticket.summary } : {}) };
}

function tagsAfter(ticket: TicketState, detected: readonly number[], { findTag }: SlaRules): TicketInput {
  const added = detected.filter((id) => findTag(id) !== undefined && !ticket.tagIds.includes(id));
  return added.length === 0 ? {} : { tagIds: [...ticket.tagIds, ...new Set(added)] };
}

/** The spam status after an analysis: the classifier does not overrule a person or a header rule. */
function spamStatusAfter(before: SpamStatus | null, detected: SpamStatus | undefined): SpamStatus | null {
  if (detected === undefined) return before;
  return before !== null && (isManual(before) || before === SpamStatus.AUTO_PROGRAMMATIC) ? before : detected;
}

function intentsAfter(ticket: TicketState, { intents: found, ticketVersion }: Analysis, onSpam: boolean): TicketInput {
  if (!found) return {};
  const { aiSupportLevel, autoExecuteAt } = found;
  const merged = changedIntents(ticket.intents, found.intents);
  const intents = onSpam ? changedIntents(ticket.intents, merged.filter(isExecuted)) : merged;
  if (onSpam) return { intents, aiAgentIds: listAgents(intents), autoExecuteAt: null };
  // The analysis does not know later changes by a person or messages of the customer.
  const isOver = ticket.interventionVersion > ticketVersion || ticket.status === TicketStatus.CLOSED;
  return { intents, aiAgentIds: listAgents(intents), aiSupportLevel, autoExecuteAt: isOver ? null : autoExecuteAt };
}

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
    aiAgentIds: listAgents(after),
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
