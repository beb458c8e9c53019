import type { ScheduledTask } from '@ticketing/service-kit/lifecycle/schedule.ts';
import { Gauge, type Registry } from 'prom-client';
import type { Context } from './context.ts';
import { exportRetentionMs } from './export/to-proto.ts';
import { type Drift, eventGraceMs, reconcile } from './row/reconciliation.ts';

/** Records the result of a reconciliation as a metric. */
export type DriftMeter = (drift: Pick<Drift, 'missing' | 'stale' | 'surplus'>) => void;

/** The reconciliation of a day does not begin before this hour, UTC. */
const firstHour = 2;

/** Registers the metric of the drift that the last reconciliation found. */
export function driftMeter(registry: Registry): DriftMeter {
  const gauge = new Gauge({
    name: 'reconciliation_drift',
    help: 'Rows that differed from their tickets at the last reconciliation of this process, before they were repaired; 0 before its first.',
    labelNames: ['kind'],
    registers: [registry],
  });
  const record: DriftMeter = ({ missing, stale, surplus }) => {
    gauge.set({ kind: 'missing' }, missing);
    gauge.set({ kind: 'stale' }, stale);
    gauge.set({ kind: 'surplus' }, surplus);
  };
  record({ missing: 0, stale: 0, surplus: 0 });
  return record;
}

/** The tasks of the scheduler role. Every replica runs them; those that must run once are claimed in the store. */
export function scheduledTasks(context: Context, meter: DriftMeter, signal: AbortSignal): ScheduledTask[] {
  return [
    { name: 'reconcile rows', everyMs: 60_000, run: () => reconcileDaily(context, meter, signal) },
    { name: 'remove old rows', everyMs: 60_000, run: () => context.rows.dropOldGenerations() },
    {
      name: 'remove old exports',
      everyMs: 60_000,
      run: () => context.exports.removeOlderThan(new Date(context.now() * 1000 - exportRetentionMs)),
    },
  ];
}

/**
 * Reconciles the rows once a day. A run that is interrupted is repeated: at once if the service stops, otherwise when the
 * claim has expired.
 */
async function reconcileDaily(context: Context, meter: DriftMeter, signal: AbortSignal): Promise<void> {
  const now = new Date(context.now() * 1000);
  if (now.getUTCHours() < firstHour) return;
  const run = await context.reconciliations.claim(now.toISOString().slice(0, 10));
  if (!run) return;
  const lost = new AbortController();
  const onPage = async () => {
    if (!(await run.renew())) lost.abort();
  };
  try {
    const { active } = await context.rows.generations();
    const runSignal = AbortSignal.any([signal, lost.signal]);
    const drift = await reconcile(context, { generation: active, graceMs: eventGraceMs, signal: runSignal, onPage });
    if (runSignal.aborted) return;
    await run.finish();
    meter(drift);
    const { missing, stale, surplus } = drift;
    if (missing + stale + surplus > 0) {
      context.log.warn(drift, 'some rows differed from their tickets and were repaired');
    }
  } finally {
    if (signal.aborted) await run.release();
  }
}
