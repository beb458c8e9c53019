import type { JsonValue } from '@bufbuild/protobuf';
import { type TicketChanged, TicketChangeType } from '@ticketing/contracts/ticketing/events/v1/ticket_changed_pb.ts';
import type { Context } from '../context.ts';
import { changedValues } from '../learning/changed-values.ts';
import type { AnalysisMode } from './rules/analysis-mode.ts';

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
