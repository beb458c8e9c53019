import { continueTrace } from '@ticketing/runtime/trace.ts';
import { startWakefulLoop, type WakefulLoop, type WorkFound } from '@ticketing/runtime/wakeful-loop.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { Context } from '../context.ts';
import { analysedText } from '../detection/compute-analysis.ts';
import { delayAfter, isTransient, maxAttempts, reasonOf, unavailableDelayMs } from './attempts.ts';
import type { ClaimedDecision } from './example-store.ts';
import { learnModel } from './learn-model.ts';
import { decidedLabels, type LabelledFeatures } from './rules/label.ts';

const pollMs = { busy: 250, idle: 4_000 };
const maxPauseMs = 10_000;

/**
 * Starts the loop that learns: it reads the tickets that somebody has decided something about, and when none is left,
 * it learns a model if that is due. Several processes share both by leases.
 *
 * Source: docs/decisions/0047-decisions-as-examples.md.
 */
export function openLearner(context: Context, kit: Pick<Kit<unknown, unknown>, 'database'>): WakefulLoop {
  const { learning, log } = context;

  async function run(signal: AbortSignal): Promise<WorkFound> {
    const claimed = await learning.examples.claim();
    if (claimed) return (await readDecision(context, claimed, signal)) ? 'more' : 'nothing';
    return (await learnModel(context, signal)) ? 'more' : 'nothing';
  }

  const loop = startWakefulLoop({
    pollMs,
    run,
    after: kit.database.opened,
    onError(error, failures) {
      if (failures === 0) log.warn({ err: error }, 'nothing can be learned at the moment');
      return Math.min(maxPauseMs, 100 * 2 ** failures);
    },
  });
  learning.wake = loop.wake;
  return loop;
}

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
