import { setTimeout } from 'node:timers/promises';
import type { JsonValue } from '@bufbuild/protobuf';
import { type TicketChanged, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import type {
  AnalyseTicketRequest,
  AnalyseTicketResponse,
  AnalysisRequest,
  RequestAnalysesRequest,
  RequestAnalysesResponse,
} from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { RefreshMode } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { changedValues } from '../learning/record-labels.ts';
import type { AnalysisMode } from './rules/analysis-mode.ts';
import { runAnalysis } from './run-analysis.ts';

/** Nothing is detected for a mode without a name here: the tickets service reads the customer by itself. */
const modes: ReadonlyMap<RefreshMode, AnalysisMode> = new Map([
  [RefreshMode.FULL, 'full'],
  [RefreshMode.SUMMARY_AND_TEXT, 'summaryAndText'],
  [RefreshMode.TAGS, 'tags'],
  [RefreshMode.AGENTS, 'agents'],
]);

/** Queues analyses. Errors: store_unavailable. Source: docs/reference/api.md, Refresh flags. */
export async function requestAnalyses(
  context: Context,
  _call: Call,
  { requests }: RequestAnalysesRequest,
): Promise<RequestAnalysesResponse> {
  await context.analyses.request(requests.flatMap(queued));
  context.analyser?.wake();
  return { $typeName: 'ticketing.intents.v1.RequestAnalysesResponse' };
}

function queued({ ticketId, mode: refreshMode }: AnalysisRequest): { ticketId: number; mode: AnalysisMode }[] {
  const mode = refreshMode === undefined ? 'first' : modes.get(refreshMode);
  return mode === undefined ? [] : [{ ticketId, mode }];
}

/**
 * Queues the first analyses of new tickets, and of tickets that turn out not to be spam, which are not analysed before.
 * The analysis itself skips tickets that wait for their first reader.
 *
 * Source: docs/reference/api.md, Spam.
 */
export async function queueAnalyses(
  { analyses, analyser }: { analyses: Pick<Context['analyses'], 'request'>; analyser: Context['analyser'] },
  changes: readonly TicketChanged[],
): Promise<void> {
  const requested = changes.flatMap((change) => modesFor(change).map((mode) => ({ ticketId: change.ticketId, mode })));
  if (requested.length === 0) return;
  await analyses.request(requested);
  analyser?.wake();
}

function modesFor(change: TicketChanged): AnalysisMode[] {
  if (change.type === TicketChangeType.TICKET_CREATED) return ['created'];
  // The classifier may have marked it in its first analysis.
  return isFoundClean(change) ? ['first', 'full'] : [];
}

const spam: readonly JsonValue[] = ['auto_spam', 'auto_programmatic', 'manual_spam'];

function isFoundClean(change: TicketChanged): boolean {
  const status = changedValues(change, 'spamStatus');
  return status !== undefined && spam.includes(status.before) && status.after === 'manual_clean';
}

const pollMs = 50;

/**
 * Makes the first analysis of a ticket, and waits until it is applied, here or by another process. If the deadline of
 * the call comes first, or an attempt fails, it stays queued.
 *
 * Errors: analysis_delayed, if an attempt fails; store_unavailable.
 */
export async function analyseTicket(
  context: Context,
  { signal }: Call,
  { ticketId }: AnalyseTicketRequest,
): Promise<AnalyseTicketResponse> {
  await context.analyses.request([{ ticketId, mode: 'first' }]);
  while (await context.analyses.isPending(ticketId)) {
    const claimed = await context.analyses.claim(ticketId);
    if (claimed) {
      // Not aborted with the call: it is applied also if the caller has gone.
      const run = runAnalysis(context, claimed, context.stopping).finally(() => context.awaited.delete(run));
      context.awaited.add(run);
      const outcome = await run;
      context.countAttempt(outcome);
      if (outcome === 'retried' || outcome === 'givenUp') throw delayed();
    } else await setTimeout(pollMs, undefined, { signal });
  }
  return { $typeName: 'ticketing.intents.v1.AnalyseTicketResponse' };
}

function delayed(): DomainError {
  const detail = 'The ticket cannot be analysed at the moment. The analysis stays queued.';
  return new DomainError('unavailable', 'analysis_delayed', detail, { retryAfterSeconds: 5 });
}
