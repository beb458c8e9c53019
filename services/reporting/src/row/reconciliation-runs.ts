import type { Operation } from '@ticketing/service-kit/lifecycle/composition.ts';
import { Gauge, type Registry } from 'prom-client';
import type { RowParts } from './open.ts';
import { type Drift, eventGraceMs, rebuild, reconcile } from './reconciliation.ts';

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

/**
 * Reconciles the rows once a day. A run that is interrupted is repeated: at once if the service stops, otherwise when the
 * claim has expired.
 */
export async function reconcileDaily(parts: RowParts, meter: DriftMeter, signal: AbortSignal): Promise<void> {
  const now = new Date(parts.runtime.now());
  if (now.getUTCHours() < firstHour) return;
  const run = await parts.reconciliations.claim(now.toISOString().slice(0, 10));
  if (!run) return;
  const lost = new AbortController();
  const onPage = async () => {
    if (!(await run.renew())) lost.abort();
  };
  try {
    const { active } = await parts.rows.generations();
    const runSignal = AbortSignal.any([signal, lost.signal]);
    const drift = await reconcile(parts, { generation: active, graceMs: eventGraceMs, signal: runSignal, onPage });
    if (runSignal.aborted) return;
    await run.finish();
    meter(drift);
    const { missing, stale, surplus } = drift;
    if (missing + stale + surplus > 0) {
      parts.log.warn(drift, 'some rows differed from their tickets and were repaired');
    }
  } finally {
    if (signal.aborted) await run.release();
  }
}

/**
 * The operations on rows for `npm run events`: `rebuild` builds all rows again from the tickets; `reconcile` compares the
 * rows with the tickets, repairs them, and returns how many differed.
 */
export function rowOperations(parts: RowParts): Record<string, Operation> {
  const { signal } = new AbortController();
  return {
    async rebuild(print) {
      const onPage = (compared: number) => print(`${compared} tickets compared`);
      const total = await rebuild(parts, { signal, graceMs: eventGraceMs, onPage });
      print(`the rows of ${total} tickets were rebuilt, and are read from now on`);
      return 0;
    },
    async reconcile(print) {
      const { active } = await parts.rows.generations();
      const options = { generation: active, graceMs: eventGraceMs, signal };
      const { compared, missing, stale, surplus } = await reconcile(parts, options);
      print(`${compared} tickets compared: ${missing} rows were missing, ${stale} stale, ${surplus} surplus; repaired`);
      return missing + stale + surplus;
    },
  };
}
