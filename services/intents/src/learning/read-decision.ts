import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { Context } from '../context.ts';
import { analysedText } from '../detection/compute-analysis.ts';
import { delayAfter, isTransient, maxAttempts, reasonOf, unavailableDelayMs } from './attempts.ts';
import type { ClaimedDecision } from './example-store.ts';
import { decidedLabels, type LabelledFeatures } from './rules/label.ts';

/**
 * Reads a ticket that somebody has decided something about, and stores its example. After an error, another attempt is
 * made later, up to a limit. Returns false after a transient error or an abort, which do not count.
 *
 * Errors: store_unavailable.
 */
export async function readDecision(
  context: Context,
  claimed: ClaimedDecision,
  stopping: AbortSignal,
): Promise<boolean> {
  const { deleted, learning, log } = context;
  const { ticketId, attempts } = claimed;
  let example: LabelledFeatures | null | undefined;
  try {
    example = await exampleOf(context, claimed, stopping);
  } catch (error) {
    const counts = !stopping.aborted && !isTransient(error);
    const delayMs = counts ? delayAfter(attempts) : stopping.aborted ? 0 : unavailableDelayMs;
    if (counts) log.warn({ err: error, ticketId, attempts }, 'a ticket cannot be learned from');
    const isLast = counts && attempts >= maxAttempts;
    await learning.examples.retry(claimed, { error: reasonOf(error), delayMs: isLast ? null : delayMs, counts });
    return counts;
  }
  if (example === undefined) await learning.examples.erase([ticketId]);
  else await learning.examples.keep(claimed, example);
  // The deletion of a tag that was deleted meanwhile has not seen this example.
  await learning.examples.dropTags([...(await deleted.tags.among(example?.tagIds ?? []))]);
  return true;
}

/**
 * Makes the example of a ticket as it is now; null if nothing is learned from it. Undefined if the ticket does not
 * exist any more.
 */
async function exampleOf(
  context: Context,
  { ticketId, tags }: ClaimedDecision,
  signal: AbortSignal,
): Promise<LabelledFeatures | null | undefined> {
  const call = { trace: continueTrace(undefined), signal };
  const { snapshots } = await context.snapshots(call).getTicketSnapshots({ ticketIds: [ticketId] });
  const [snapshot] = snapshots;
  if (!snapshot?.ticket) return undefined;
  const { tagIds, spamStatus = null } = snapshot.ticket;
  const labels = decidedLabels(tags, { tagIds, spamStatus, isSpam: snapshot.isSpam });
  if (labels.tagIds === null && labels.isSpam === null) return null;
  return { ...labels, features: await context.featuresOf(analysedText(snapshot.ticket)) };
}
