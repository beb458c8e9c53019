import type { ScheduledTask } from '@ticketing/service-kit/schedule.ts';
import { Gauge, type Registry } from 'prom-client';
import { keptMs } from './api/get-reporting-export.ts';
import type { Context } from './context.ts';
import { type Drift, reconcile } from './reconciliation.ts';

/** Keeps how the rows differed when they were compared last. */
export type DriftMeter = (drift: Drift) => void;

const graceMs = 5_000;
/** UTC. */
const nightHour = 2;

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
    { name: 'reconcile rows', everyMs: 60_000, run: () => reconcileNightly(context, meter, signal) },
    { name: 'remove old rows', everyMs: 60_000, run: () => context.rows.removeOld() },
    {
      name: 'remove old exports',
      everyMs: 60_000,
      run: () => context.exports.removeOlder(new Date(Date.now() - keptMs)),
    },
  ];
}

async function reconcileNightly(context: Context, meter: DriftMeter, signal: AbortSignal): Promise<void> {
  const now = new Date();
  if (now.getUTCHours() < nightHour || !(await context.claimNight(now.toISOString().slice(0, 10)))) return;
  const { active } = await context.rows.generations();
  const drift = await reconcile(context, { generation: active, graceMs, signal });
  meter(drift);
  const { missing, stale, surplus } = drift;
  if (missing + stale + surplus > 0) context.log.warn(drift, 'rows had drifted from their tickets; they are repaired');
}
