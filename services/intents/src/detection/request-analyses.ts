import type { EventEmitter } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { JsonValue } from '@bufbuild/protobuf';
import {
  ChangeCause,
  type TicketChanged,
  TicketChangeType,
} from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
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
import { readChange } from '../learning/record-labels.ts';
import type { AttemptOutcome } from './metrics.ts';
import type { AnalysisContext } from './open.ts';
import type { AnalysisStore } from './queue-store.ts';
import { type AnalysisMode, isLate } from './rules/analysis-mode.ts';
import { runAnalyses } from './run-analyses.ts';

/** Nothing is detected for a mode without a name here: the tickets service reads the customer by itself. */
const modes: ReadonlyMap<RefreshMode, AnalysisMode> = new Map([
  [RefreshMode.FULL, 'full'],
  [RefreshMode.SUMMARY_AND_TEXT, 'summaryAndText'],
  [RefreshMode.TAGS, 'tags'],
  [RefreshMode.AGENTS, 'agents'],
]);

/** Queues analyses. Errors: store_unavailable. Source: docs/reference/api.md, Refresh flags. */
export async function requestAnalyses(
  context: AnalysisContext,
  _call: Call,
  { requests }: RequestAnalysesRequest,
): Promise<RequestAnalysesResponse> {
  await context.analyses.request(requests.flatMap(fromProto));
  context.signals.emit('due');
  return { $typeName: 'ticketing.intents.v1.RequestAnalysesResponse' };
}

function fromProto({ ticketId, mode: refreshMode }: AnalysisRequest): { ticketId: number; mode: AnalysisMode }[] {
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
  { analyses, signals }: { analyses: Pick<AnalysisStore, 'request'>; signals: EventEmitter },
  changes: readonly TicketChanged[],
): Promise<void> {
  const requests = changes.flatMap((change) => modesFor(change).map((mode) => ({ ticketId: change.ticketId, mode })));
  if (requests.length === 0) return;
  await analyses.request(requests);
  signals.emit('due');
}

function modesFor(change: TicketChanged): AnalysisMode[] {
  // Of an event of an earlier version, which does not list `process`, the analysis itself finds out.
  if (change.type === TicketChangeType.TICKET_CREATED) {
    if (readChange(change, 'process')?.after === 'false') return [];
    return isImported(change) ? ['created', 'imported'] : ['created'];
  }
  // The classifier may have marked it in its first analysis.
  return isFoundClean(change) ? ['first', 'full'] : [];
}

/** Whether a new ticket was created in bulk, or elsewhere long before. */
function isImported(created: TicketChanged): boolean {
  if (created.cause === ChangeCause.IMPORT) return true;
  const createdAt = readChange(created, 'createdAt')?.after;
  return (
    typeof createdAt === 'string' && isLate(Date.parse(createdAt) / 1000, Number(created.occurredAt?.seconds ?? 0))
  );
}

const spam: readonly JsonValue[] = ['auto_spam', 'auto_programmatic', 'manual_spam'];

function isFoundClean(change: TicketChanged): boolean {
  const status = readChange(change, 'spamStatus');
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
  context: AnalysisContext,
  { signal }: Call,
  { ticketId }: AnalyseTicketRequest,
): Promise<AnalyseTicketResponse> {
  const { analyses, awaited, stopping, countAttempt } = context;
  await analyses.request([{ ticketId, mode: 'first' }]);
  while (await analyses.isPending(ticketId)) {
    const claimed = await analyses.claim(1, { ticketId });
    if (claimed.length > 0) {
      const outcomes: AttemptOutcome[] = [];
      // The end of the call does not abort it: it is applied even if the caller has gone.
      const run = runAnalyses(context, claimed, stopping, (outcome) => {
        countAttempt(outcome);
        outcomes.push(outcome);
      }).finally(() => awaited.delete(run));
      awaited.add(run);
      await run;
      if (outcomes.includes('retried') || outcomes.includes('givenUp')) throw delayed();
    } else await setTimeout(pollMs, undefined, { signal });
  }
  return { $typeName: 'ticketing.intents.v1.AnalyseTicketResponse' };
}

function delayed(): DomainError {
  const detail = 'The ticket cannot be analysed at the moment. The analysis stays queued.';
  return new DomainError('unavailable', 'analysis_delayed', detail, { retryAfterSeconds: 5 });
}
