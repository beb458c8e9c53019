import { readMeasured } from '@ticketing/runtime/read-measured.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { AnalysisQueueSize, AnalysisStore } from './queue-store.ts';

/**
 * The outcome of an attempt: `applied`; `skipped`, because there was nothing to analyse; `retried` later; `givenUp`;
 * `lost` to another process.
 */
export type AttemptOutcome = 'applied' | 'skipped' | 'retried' | 'givenUp' | 'lost';

const outcomes: Record<AttemptOutcome, string> = {
  applied: 'applied',
  skipped: 'skipped',
  retried: 'retried',
  givenUp: 'given_up',
  lost: 'lost',
};

/**
 * Registers the metrics of analyses. The store is measured whenever the metrics are read.
 *
 * Source: docs/reference/guarantees.md, What is measured.
 */
export function measureAnalyses(
  analyses: Pick<AnalysisStore, 'size'>,
  registry: Registry,
  { now }: Pick<Runtime, 'now'>,
): (outcome: AttemptOutcome) => void {
  const attempts = new Counter({
    name: 'analysis_attempts_total',
    help: 'Attempts to analyse a ticket, by outcome: applied, skipped (nothing to analyse), retried (later), given_up, or lost (to another process).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  // A counter that appears with its first increment seems not to have increased.
  for (const outcome of Object.values(outcomes)) attempts.inc({ outcome }, 0);
  const gauge = (name: string, help: string, readValue: (size: AnalysisQueueSize) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const size = await readMeasured(() => analyses.size());
        this.remove();
        if (size) this.set(readValue(size));
      },
    });
  gauge('analyses_queued', 'Analyses that wait or are being made.', ({ queued }) => queued);
  gauge('analyses_given_up', 'Analyses that are attempted no more until they are requested again.', (size) => {
    return size.givenUp;
  });
  gauge(
    'analyses_oldest_age_seconds',
    'How long the oldest of these analyses has been queued, imported tickets apart; 0 if there is none.',
    ({ oldestAt }) => (oldestAt === undefined ? 0 : Math.max(0, (now() - oldestAt) / 1000)),
  );
  return (outcome) => attempts.inc({ outcome: outcomes[outcome] });
}
