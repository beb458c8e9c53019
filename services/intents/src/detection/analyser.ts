import { backOffMs } from '@ticketing/runtime/back-off.ts';
import { aborted, startWakefulLoop, type WakefulLoop, type WorkFound } from '@ticketing/runtime/wakeful-loop.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { AttemptOutcome } from './metrics.ts';
import type { AnalysisContext } from './open.ts';
import type { ClaimedAnalysis } from './queue-store.ts';
import { runAnalysis } from './run-analysis.ts';

const pollMs = { busy: 250, idle: 4_000 };
const maxConcurrent = 4;
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

  function begin(claimed: ClaimedAnalysis): void {
    const ended = runAnalysis(context, claimed, stopping.signal)
      .then((outcome: AttemptOutcome) => context.countAttempt(outcome))
      .catch((error: unknown) => log.warn({ err: error, ticketId: claimed.ticketId }, 'an analysis was interrupted'))
      .finally(() => inProgress.delete(ended));
    inProgress.add(ended);
  }

  async function run(signal: AbortSignal): Promise<WorkFound> {
    while (inProgress.size < maxConcurrent && !signal.aborted) {
      const claimed = await analyses.claim();
      if (!claimed) return inProgress.size > 0 ? 'done' : 'nothing';
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
