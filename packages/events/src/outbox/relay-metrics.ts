import { Gauge, type Registry } from 'prom-client';
import type { Outbox, OutboxState } from './outbox.ts';

/** Measures what waits in outboxes, when the metrics are read. Source: guarantees.md section 7. */
export function measureOutboxes(outboxes: readonly Outbox[], registry: Registry): void {
  const gauge = (name: string, help: string, read: (state: OutboxState) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['outbox'],
      registers: [registry],
      async collect() {
        for (const outbox of outboxes) {
          // Without the store there is nothing to tell; its absence has a metric of its own.
          const state = await outbox.state().catch(() => undefined);
          if (state) this.set({ outbox: outbox.name }, read(state));
        }
      },
    });
  gauge('outbox_pending', 'Events that are not sent yet.', ({ events }) => events);
  gauge('outbox_undeliverable', 'Documents whose events the bus refuses.', ({ undeliverable }) => undeliverable);
  gauge('outbox_oldest_age_seconds', 'How long the oldest event waits to be sent.', ({ oldestAt }) =>
    oldestAt === undefined ? 0 : Math.max(0, (Date.now() - oldestAt) / 1000),
  );
}
