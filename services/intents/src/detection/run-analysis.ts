import { Code, ConnectError } from '@connectrpc/connect';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { isStoreOutage } from '@ticketing/store/document/transient-error.ts';
import { whileRenewing } from '@ticketing/store/leases/lease.ts';
import { maxAttempts, planRetry } from '../learning/attempts.ts';
import type { AttemptOutcome } from './metrics.ts';
import type { AnalysisContext } from './open.ts';
import type { ClaimedAnalysis } from './queue-store.ts';

const renewMs = 5_000;

/**
 * Makes an analysis that this process has claimed: detects, stores the result, applies it, and ends the claim. A
 * process that dies between two of these steps leaves the rest to another one, which applies the same result.
 *
 * Errors: store_unavailable.
 */
export async function runAnalysis(
  context: AnalysisContext,
  claimed: ClaimedAnalysis,
  stopping: AbortSignal,
): Promise<AttemptOutcome> {
  const { analyses, log } = context;
  const { ticketId, claim, attempts } = claimed;
  // Each earlier attempt has ended its process.
  if (attempts > maxAttempts) return giveUp(context, claimed, 'process_ended');
  try {
    return await whileRenewing(
      () => analyses.renew(claim),
      renewMs,
      () => attempt(context, claimed, stopping),
    );
  } catch (error) {
    if (isStoreOutage(error)) throw error;
    const { reason, counts, delayMs } = planRetry(error, attempts, stopping.aborted);
    if (counts) log.warn({ err: error, ticketId, attempts }, 'an attempt to analyse a ticket has failed');
    else log.info({ ticketId, reason }, 'an analysis waits for another service');
    if (delayMs === null) return giveUp(context, claimed, reason);
    await analyses.retry(claimed, { error: reason, delayMs, counts });
    return 'retried';
  }
}

async function attempt(
  { analyses, compute, apply }: AnalysisContext,
  { ticketId, runId, modes, result: earlierResult, claim }: ClaimedAnalysis,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const call = { trace: continueTrace(undefined), signal };
  const result = earlierResult ?? (await compute(call, ticketId, modes));
  if (!result) {
    await analyses.finish(claim);
    return 'skipped';
  }
  if (!earlierResult && !(await analyses.keepResult(claim, result))) return 'lost';
  try {
    await apply(call, { ticketId, runId, result });
  } catch (error) {
    // The ticket was deleted meanwhile.
    if (!(error instanceof ConnectError) || error.code !== Code.NotFound) throw error;
  }
  await analyses.finish(claim);
  return 'applied';
}

async function giveUp(
  { analyses, log }: AnalysisContext,
  claimed: ClaimedAnalysis,
  reason: string,
): Promise<AttemptOutcome> {
  log.error({ ticketId: claimed.ticketId, reason }, 'a ticket is not analysed: all attempts have failed');
  await analyses.giveUp(claimed, reason);
  return 'givenUp';
}
