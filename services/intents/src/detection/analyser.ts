import { backOffMs } from '@ticketing/runtime/back-off.ts';
import { aborted, startWakefulLoop, type WakefulLoop, type WorkFound } from '@ticketing/runtime/wakeful-loop.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { AnalysisContext } from './open.ts';
import type { ClaimedAnalysis } from './queue-store.ts';
import { runAnalyses } from './run-analyses.ts';

const pollMs = { busy: 250, idle: 4_000 };
/** How many batches are made at once, and of how many analyses one consists at most. */
const maxConcurrent = 4;
const batchSize = 25;
const maxPauseMs = 5_000;
/** The time for which the analyses in progress may go on when the process stops. */
const graceMs = 5_000;

/**
 * Starts the loop that makes the analyses that are due. Several processes share them by leases.
 *
 * Source: docs/reference/guarantees.md, Faults.
 */
export function startAnalyser(
  context: AnalysisContext,
  { opened }: Pick<Kit<unknown, unknown>['database'], 'opened'>,
): WakefulLoop {
  const { analyses, log, signals } = context;
  const inProgress = new Set<Promise<void>>();
  const stopping = new AbortController();

  function begin(claimed: readonly ClaimedAnalysis[]): void {
    const ticketIds = claimed.map(({ ticketId }) => ticketId);
    const ended = runAnalyses(context, claimed, stopping.signal, context.countAttempt)
      .catch((error: unknown) => log.warn({ err: error, ticketIds }, 'analyses were interrupted'))
      .finally(() => {
        inProgress.delete(ended);
        if (claimed.some(({ modes }) => modes.includes('imported'))) loop.wake();
      });
    inProgress.add(ended);
  }

  async function run(signal: AbortSignal): Promise<WorkFound> {
    while (inProgress.size < maxConcurrent && !signal.aborted) {
      // Imported tickets wait until nothing else is done, so that most of the processor is left to requests.
      const claimed = await analyses.claim(batchSize, { imported: inProgress.size === 0 });
      if (claimed.length === 0) return inProgress.size > 0 ? 'done' : 'nothing';
      begin(claimed);
    }
    await Promise.race([...inProgress, aborted(signal)]);
    return 'more';
  }

  const loop = startWakefulLoop({
    pollMs,
    run,
    after: opened,
    onError(error, failures) {
      if (failures === 0) log.warn({ err: error }, 'the queue of analyses cannot be read');
      return backOffMs(failures, { firstMs: 100, longestMs: maxPauseMs });
    },
  });
  signals.on('due', loop.wake);
  return {
    wake: loop.wake,
    async stop() {
      signals.off('due', loop.wake);
      await loop.stop();
      const giveUp = setTimeout(() => stopping.abort(), graceMs);
      await Promise.all(inProgress);
      clearTimeout(giveUp);
    },
  };
}
