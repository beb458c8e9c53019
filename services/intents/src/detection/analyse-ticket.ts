import { setTimeout } from 'node:timers/promises';
import type {
  AnalyseTicketRequest,
  AnalyseTicketResponse,
} from '@ticketing/contracts/ticketing/intents/v1/analysis_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { Context } from '../context.ts';
import { runAnalysis } from './run-analysis.ts';

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
