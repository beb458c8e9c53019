import type { ScheduledTask } from '@ticketing/service-kit/lifecycle/schedule.ts';
import { Gauge, type Registry } from 'prom-client';
import { keptMs } from '../rpc/get-reporting-export.ts';
import type { Context } from './context.ts';
import { type Drift, reconcile } from './reconciliation.ts';

/** Keeps how the rows differed when they were compared last. */
export type DriftMeter = (drift: Drift) => void;

const graceMs = 5_000;
/** From this hour of the day on, UTC. */
const firstHour = 2;

/** Measures the drift that the last reconciliation found. */
export function driftMeter(registry: Registry): DriftMeter {
  const gauge = new Gauge({
    name: 'reconciliation_drift',
    help: 'Rows that differed from their tickets at the last reconciliation, before they were repaired.',
    labelNames: ['kind'],
    registers: [registry],
  });
  return ({ missing, stale, surplus }) => {
    gauge.set({ kind: 'missing' }, missing);
    gauge.set({ kind: 'stale' }, stale);
    gauge.set({ kind: 'surplus' }, surplus);
  };
}

/** What the scheduler role of this service does. Every replica may do it: the store lets each thing happen once. */
export function scheduledTasks(context: Context, meter: DriftMeter, signal: AbortSignal): ScheduledTask[] {
  return [
    { name: 'reconcile rows', everyMs: 60_000, run: () => reconcileDaily(context, meter, signal) },
    { name: 'remove old rows', everyMs: 60_000, run: () => context.rows.removeOld() },
    {
      name: 'remove old exports',
      everyMs: 60_000,
      run: () => context.exports.removeOlder(new Date(Date.now() - keptMs)),
    },
  ];
}

/** A run that breaks off is begun again: at once if the process stops, after some minutes if it dies or something fails. */
async function reconcileDaily(context: Context, meter: DriftMeter, signal: AbortSignal): Promise<void> {
  const now = new Date(context.now() * 1000);
  if (now.getUTCHours() < firstHour) return;
  const run = await context.reconciliations.claim(now.toISOString().slice(0, 10));
  if (!run) return;
  const taken = new AbortController();
  const onPage = async () => {
    if (!(await run.renew())) taken.abort();
  };
  try {
    const { active } = await context.rows.generations();
    const options = { generation: active, graceMs, signal: AbortSignal.any([signal, taken.signal]), onPage };
    const drift = await reconcile(context, options);
    if (options.signal.aborted) return;
    await run.finish();
    meter(drift);
    const { missing, stale, surplus } = drift;
    if (missing + stale + surplus > 0)
      context.log.warn(drift, 'rows had drifted from their tickets; they are repaired');
  } finally {
    if (signal.aborted) await run.release();
  }
}
