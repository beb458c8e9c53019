import { create } from '@bufbuild/protobuf';
import type {
  AppliedAnalysis,
  ApplyAnalysesRequest,
  ApplyAnalysesResponse,
  ApplyAnalysisRequest,
  ApplyAnalysisResponse,
  RecordExecutionRequest,
  RecordExecutionResponse,
  ReplaceAutoExecutionRequest,
  ReplaceAutoExecutionResponse,
} from '@ticketing/contracts/ticketing/tickets/v1/analysis_service_pb.ts';
import { TicketChangeSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { invalidInput } from '@ticketing/errors/domain-error.ts';
import { toConnectError } from '@ticketing/errors/error-table.ts';
import { toDomainError } from '@ticketing/errors/translate-error.ts';
import { secondsNow } from '@ticketing/runtime/runtime.ts';
import { renderTraceparent } from '@ticketing/runtime/trace.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey, isHuman, type ProfileKind } from '@ticketing/service-kit/identity/caller.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import { eventHeader, eventHeaderFor } from '../event-header.ts';
import { type CheckDeps, requireValidChanges } from '../ticket/checks.ts';
import { readBulkElement, slaRulesWith } from '../ticket/patch.ts';
import { followCustomer, type RefreshDeps } from '../ticket/refresh-customer.ts';
import { decideFields } from '../ticket/rules/decision.ts';
import type { StoredTicket } from '../ticket/store/document.ts';
import type { TicketStore } from '../ticket/store/store.ts';
import { intentStates } from '../ticket/to-proto.ts';
import { type Analysis, decideAnalysis, decideExecution } from './rules.ts';

interface AnalysisDeps extends CheckDeps, RefreshDeps {
  tickets: Pick<TicketStore, 'findSome' | 'versions'>;
  pages: PageBudget;
  /** Has a ticket show the delivery of one of its messages from now on. */
  beginToShow(message: { ticketId: number; conversationId: number }): Promise<void>;
}

/**
 * Stores the result of an analysis in its ticket, once.
 *
 * Errors: ticket_not_found, concurrent_change. Source: docs/reference/api.md, Detection.
 */
export async function applyAnalysis(
  deps: AnalysisDeps,
  call: Call,
  request: ApplyAnalysisRequest,
): Promise<ApplyAnalysisResponse> {
  const apply = await openApply(deps, call);
  return { $typeName: 'ticketing.tickets.v1.ApplyAnalysisResponse', version: await apply(request, undefined) };
}

/** The most bytes of tickets that are read together. The other tickets are read one by one. */
const maxBytes = 8 * 1024 * 1024;

/** Stores the results of analyses, each as `applyAnalysis` does. */
export async function applyAnalyses(
  deps: AnalysisDeps,
  call: Call,
  { analyses }: ApplyAnalysesRequest,
): Promise<ApplyAnalysesResponse> {
  const ids = analyses.map(({ ticketId }) => ticketId);
  const { tickets, bytes } = await deps.tickets.findSome(ids, maxBytes);
  await deps.pages.take(callerKey(call.caller), bytes, call);
  const read = new Map(tickets.map((stored) => [stored.ticket.id, stored]));
  const apply = await openApply(deps, call);
  const outcome = async (request: ApplyAnalysisRequest): Promise<Omit<AppliedAnalysis, '$typeName'>> => {
    try {
      return { version: await apply(request, read.get(request.ticketId)) };
    } catch (error) {
      const failure = toDomainError(error);
      const { ticketId } = request;
      if (failure.code === 'internal') call.log.error({ err: error, ticketId }, 'an analysis was not applied');
      return { code: toConnectError(failure).code, reason: failure.reason };
    }
  };
  const outcomes = await Promise.all(analyses.map(outcome));
  return {
    $typeName: 'ticketing.tickets.v1.ApplyAnalysesResponse',
    analyses: outcomes.map((one) => ({ $typeName: 'ticketing.tickets.v1.AppliedAnalysis', ...one })),
  };
}

/**
 * Makes the function that stores the result of an analysis, in a ticket that may have been read just now. It returns the
 * version of the ticket.
 */
async function openApply(deps: AnalysisDeps, call: Call) {
  const sla = await slaRulesWith(deps, await deps.tags.tree());
  const { spamDetectionTagId: spamTagId } = await deps.settings();
  return async (request: ApplyAnalysisRequest, read: StoredTicket | undefined): Promise<number> => {
    const analysis = readAnalysis(request);
    const { ticket } = await deps.commit({
      ticketId: request.ticketId,
      decide({ ticket: before }) {
        const now = secondsNow(deps.runtime);
        return decideAnalysis(before, analysis, { now, sla, spamTagId, header: eventHeaderFor(deps, call) });
      },
      requestId: request.analysisId,
      read,
    });
    return ticket.version;
  };
}

function readAnalysis({ ticketVersion, isRefresh, text, tagIds, spamStatus, intents }: ApplyAnalysisRequest): Analysis {
  return {
    ticketVersion,
    isRefresh,
    text: text && {
      sentiment: text.sentiment ?? null,
      language: text.language ?? null,
      languageCode: text.languageCode ?? null,
      summary: text.summary ?? null,
    },
    tagIds,
    spamStatus,
    intents: intents && {
      intents: intentStates(intents.intents),
      aiSupportLevel: intents.aiSupportLevel,
      autoExecuteAt: intents.autoExecuteAt ? Number(intents.autoExecuteAt.seconds) : null,
    },
  };
}

/**
 * Stores the execution of an intent and its effects on the ticket in one change. The author of the change is the actor
 * of the execution.
 *
 * Errors: ticket_not_found, concurrent_change; those of `requireValidChanges`. Source: docs/reference/api.md, Execution of an intent.
 */
export async function recordExecution(
  deps: AnalysisDeps,
  call: Call,
  request: RecordExecutionRequest,
): Promise<RecordExecutionResponse> {
  const { ticketId, intentId, change = create(TicketChangeSchema), aiSupportLevel, autoExecuteAt } = request;
  const { patch, refreshMode } = readBulkElement(change);
  if (refreshMode !== undefined) {
    const detail = 'an execution cannot request an analysis';
    throw invalidInput([{ pointer: '#/change/refreshMode', code: 'not_allowed', detail }]);
  }
  const placed = { change: { ...change, id: ticketId }, patch, refreshMode, pointer: '#/change' };
  await requireValidChanges(deps, [placed]);
  if (request.validateOnly) return { $typeName: 'ticketing.tickets.v1.RecordExecutionResponse', version: 0 };
  const { profileId = null, profileKind: kind = 'service' } = request;
  const author = { profileId, isHuman: isHuman({ kind: kind as ProfileKind | 'service' }) };
  const sla = await slaRulesWith(deps, await deps.tags.tree());
  const header = eventHeader(deps, { profileId, kind }, renderTraceparent(call.trace));
  const execution = {
    intentId,
    intents: intentStates(request.intents),
    closesTicket: request.close,
    aiSupportLevel,
    autoExecuteAt: autoExecuteAt ? Number(autoExecuteAt.seconds) : null,
  };
  const { ticket } = await deps.commit({
    ticketId,
    identify: followCustomer(deps.customers, patch.input, author.isHuman),
    decide(stored, identified) {
      const input = { ...identified, ...patch.input };
      const patchContext = { author, now: secondsNow(deps.runtime), includeInWorklog: true, sla, header };
      return decideExecution(stored, { ...execution, patch: { ...patch, input } }, patchContext);
    },
    requestId: request.executionId,
  });
  const { conversationId } = request.intents.find(({ id }) => id === intentId)?.outcome ?? {};
  if (conversationId !== undefined) await deps.beginToShow({ ticketId, conversationId });
  return { $typeName: 'ticketing.tickets.v1.RecordExecutionResponse', version: ticket.version };
}

/**
 * Replaces the time at which the system executes an intent of a ticket, if the ticket still has that time.
 *
 * Errors: ticket_not_found, concurrent_change. Source: docs/reference/api.md, Automatic execution.
 */
export async function replaceAutoExecution(
  deps: AnalysisDeps,
  call: Call,
  { ticketId, replaced, autoExecuteAt }: ReplaceAutoExecutionRequest,
): Promise<ReplaceAutoExecutionResponse> {
  const before = readSeconds(replaced);
  await deps.commit({
    ticketId,
    decide({ ticket }) {
      if (ticket.autoExecuteAt !== before) return {};
      const input = { autoExecuteAt: readSeconds(autoExecuteAt) };
      const { change } = decideFields(ticket, input, secondsNow(deps.runtime), eventHeaderFor(deps, call));
      return change ? { change: { ...change, event: { ...change.event, cause: 'schedule' } } } : {};
    },
  });
  return { $typeName: 'ticketing.tickets.v1.ReplaceAutoExecutionResponse' };
}

function readSeconds(time: { seconds: bigint } | undefined): number | null {
  return time ? Number(time.seconds) : null;
}
