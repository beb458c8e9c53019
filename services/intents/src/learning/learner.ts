import type { Client } from '@connectrpc/connect';
import type { SnapshotService, TicketSnapshot } from '@ticketing/contracts/ticketing/tickets/v1/snapshot_service_pb.ts';
import { backOffMs } from '@ticketing/runtime/back-off.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import { startWakefulLoop, type WakefulLoop, type WorkFound } from '@ticketing/runtime/wakeful-loop.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import { isStoreOutage } from '@ticketing/store/document/transient-error.ts';
import { planRetry } from './attempts.ts';
import type { ClaimedTicket, ReadTicket } from './example-store.ts';
import { learnModel } from './learn-model.ts';
import type { LearningContext } from './open.ts';
import { type LabelledFeatures, trainingLabels } from './rules/label.ts';
import { type TicketText, ticketText } from './ticket-text.ts';

/** Labels wake the learner of their process; it finds those of other processes when it polls. */
const pollMs = { busy: 250, idle: 15_000 };
const maxPauseMs = 10_000;
/** How many tickets are read at once. Their texts are short: the features are made long before a lease expires. */
const batchSize = 25;

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
    const claimed = await examples.claim(batchSize);
    if (claimed.length > 0) return (await readTickets(context, parts, claimed, signal)) ? 'more' : 'nothing';
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
 * Reads tickets that somebody has labelled, and stores their examples. After an error of several tickets, each is read
 * alone; after one of a single ticket, another attempt is made later, up to a limit. Returns false if no attempt counts.
 *
 * Errors: store_unavailable.
 */
async function readTickets(
  context: LearningContext,
  parts: LearnerParts,
  claimed: readonly ClaimedTicket[],
  stopping: AbortSignal,
): Promise<boolean> {
  const { examples, log } = context;
  try {
    const read = await makeExamples(parts, claimed, stopping);
    const isRead = new Set(read.map((one) => one.claimed));
    await examples.erase(claimed.flatMap((one) => (isRead.has(one) ? [] : [one.ticketId])));
    await examples.keep(read);
    return true;
  } catch (error) {
    if (isStoreOutage(error)) throw error;
    const retries = claimed.map((one) => ({ one, ...planRetry(error, one.attempts, stopping.aborted) }));
    const isCounted = retries.some(({ counts }) => counts);
    if (isCounted && claimed.length > 1) {
      for (const one of claimed) await readTickets(context, parts, [one], stopping);
      return true;
    }
    for (const { one, reason, ...retry } of retries) {
      const { ticketId, attempts } = one;
      if (isCounted) log.warn({ err: error, ticketId, attempts }, 'a ticket cannot be learned from');
      await examples.retry(one, { ...retry, error: reason });
    }
    return isCounted;
  }
}

/** Makes the examples of tickets as they are now. Leaves out tickets that do not exist any more. */
async function makeExamples(
  parts: LearnerParts,
  claimed: readonly ClaimedTicket[],
  signal: AbortSignal,
): Promise<ReadTicket[]> {
  const call = { trace: continueTrace(undefined), signal };
  const request = { ticketIds: claimed.map(({ ticketId }) => ticketId) };
  const { snapshots, remainingIds } = await parts.snapshots(call).getTicketSnapshots(request);
  const snapshotById = new Map(snapshots.map((snapshot) => [snapshot.ticket?.id, snapshot]));
  const read: ReadTicket[] = [];
  for (const one of claimed) {
    const example = await makeExample(parts, one, snapshotById.get(one.ticketId));
    if (example !== undefined) read.push({ claimed: one, example });
  }
  const remaining = claimed.filter(({ ticketId }) => remainingIds.includes(ticketId));
  return remaining.length === 0 ? read : [...read, ...(await makeExamples(parts, remaining, signal))];
}

/** Makes the example of a ticket; null if nothing is learned from it, undefined if it was not read. */
async function makeExample(
  { extractFeatures }: LearnerParts,
  { tags }: ClaimedTicket,
  { ticket, isSpam = false }: Partial<TicketSnapshot> = {},
): Promise<LabelledFeatures | null | undefined> {
  if (!ticket) return undefined;
  const { tagIds, spamStatus = null } = ticket;
  const labels = trainingLabels(tags, { tagIds, spamStatus, isSpam });
  if (labels.tagIds === null && labels.isSpam === null) return null;
  return { ...labels, features: await extractFeatures(ticketText(ticket)) };
}
