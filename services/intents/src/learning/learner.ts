import type { Client } from '@connectrpc/connect';
import type { SnapshotService } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { backOffMs } from '@ticketing/runtime/back-off.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { startWakefulLoop, type WakefulLoop, type WorkFound } from '@ticketing/runtime/wakeful-loop.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { planRetry } from './attempts.ts';
import type { ClaimedTicket } from './example-store.ts';
import { learnModel } from './learn-model.ts';
import type { LearningContext } from './open.ts';
import { type LabelledFeatures, trainingLabels } from './rules/label.ts';
import { type TicketText, ticketText } from './ticket-text.ts';

/** Labels wake the learner of their process; it finds those of other processes when it polls. */
const pollMs = { busy: 250, idle: 15_000 };
const maxPauseMs = 10_000;

/** The parts of other features, and of the service, with which tickets are read. */
export interface LearnerParts {
  snapshots(call: OnBehalfOf): Pick<Client<typeof SnapshotService>, 'getTicketSnapshots'>;
  /** Makes the features of a text, as bytes. */
  extractFeatures(text: TicketText): Promise<Uint8Array>;
  /** Resolves when the database is reached. */
  opened: Promise<unknown>;
}

/**
 * Starts the loop that learns: it reads the tickets that somebody has labelled, and when none is left, it learns a model
 * if that is due. Several processes share both by leases.
 *
 * Source: docs/decisions/0047-decisions-as-examples.md.
 */
export function startLearner(context: LearningContext, parts: LearnerParts): WakefulLoop {
  const { examples, signals, log } = context;

  async function run(signal: AbortSignal): Promise<WorkFound> {
    const claimed = await examples.claim();
    if (claimed) return (await readTicket(context, parts, claimed, signal)) ? 'more' : 'nothing';
    return (await learnModel(context, signal)) ? 'more' : 'nothing';
  }

  const loop = startWakefulLoop({
    pollMs,
    run,
    after: parts.opened,
    onError(error, failures) {
      if (failures === 0) log.warn({ err: error }, 'nothing can be learned at the moment');
      return backOffMs(failures, { firstMs: 100, longestMs: maxPauseMs });
    },
  });
  signals.on('due', loop.wake);
  return {
    wake: loop.wake,
    async stop() {
      signals.off('due', loop.wake);
      await loop.stop();
    },
  };
}

/**
 * Reads a ticket that somebody has labelled, and stores its example. After an error, another attempt is made later, up to
 * a limit. Returns false after an attempt that does not count.
 *
 * Errors: store_unavailable.
 */
async function readTicket(
  { examples, log }: LearningContext,
  parts: LearnerParts,
  claimed: ClaimedTicket,
  stopping: AbortSignal,
): Promise<boolean> {
  const { ticketId, attempts } = claimed;
  let example: LabelledFeatures | null | undefined;
  try {
    example = await makeExample(parts, claimed, stopping);
  } catch (error) {
    const { reason, delayMs, counts } = planRetry(error, attempts, stopping.aborted);
    if (counts) log.warn({ err: error, ticketId, attempts }, 'a ticket cannot be learned from');
    await examples.retry(claimed, { error: reason, delayMs, counts });
    return counts;
  }
  if (example === undefined) await examples.erase([ticketId]);
  else await examples.keep(claimed, example);
  return true;
}

/**
 * Makes the example of a ticket as it is now; null if nothing is learned from it. Undefined if the ticket does not
 * exist any more.
 */
async function makeExample(
  { snapshots: openClient, extractFeatures }: LearnerParts,
  { ticketId, tags }: ClaimedTicket,
  signal: AbortSignal,
): Promise<LabelledFeatures | null | undefined> {
  const call = { trace: continueTrace(undefined), signal };
  const { snapshots } = await openClient(call).getTicketSnapshots({ ticketIds: [ticketId] });
  const [{ ticket, isSpam = false } = {}] = snapshots;
  if (!ticket) return undefined;
  const { tagIds, spamStatus = null } = ticket;
  const labels = trainingLabels(tags, { tagIds, spamStatus, isSpam });
  if (labels.tagIds === null && labels.isSpam === null) return null;
  return { ...labels, features: await extractFeatures(ticketText(ticket)) };
}
