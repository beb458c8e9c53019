import { readMeasured } from '@ticketing/runtime/read-measured.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { Gauge, type Registry } from 'prom-client';
import type { ErasureStore, PendingErasures } from './store.ts';

/** Registers metrics of the deleted tickets whose data a service has not erased yet. Each scrape reads the store. */
export function measureErasures(
  store: Pick<ErasureStore, 'pendingByService'>,
  registry: Registry,
  { now }: Pick<Runtime, 'now'>,
): void {
  const gauge = (name: string, help: string, readValue: (pending: PendingErasures) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['owner'],
      registers: [registry],
      async collect() {
        const found = await readMeasured(() => store.pendingByService());
        this.reset();
        for (const pending of found ?? []) this.set({ owner: pending.service }, readValue(pending));
      },
    });
  gauge('erasures_pending', 'Deleted tickets of which a service has not confirmed the erasure.', ({ count }) => count);
  gauge('erasures_oldest_age_seconds', 'How long the oldest of them has been deleted.', ({ oldestAt }) =>
    Math.max(0, (now() - oldestAt.getTime()) / 1000),
  );
}
