import { readMeasured } from '@ticketing/runtime/read-measured.ts';
import { Gauge, type Registry } from 'prom-client';
import type { Outbox, OutboxState } from './outbox.ts';

/**
 * Registers the metrics of outboxes. They are measured whenever the metrics are read.
 * Source: docs/reference/guarantees.md, What is measured.
 */
export function measureOutboxes(outboxes: readonly Outbox[], registry: Registry): void {
  const gauge = (name: string, help: string, read: (state: OutboxState) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['outbox'],
      registers: [registry],
      async collect() {
        const states = await Promise.all(outboxes.map((outbox) => readMeasured(() => outbox.state())));
        this.reset();
        for (const [index, { name: outbox }] of outboxes.entries()) {
          const state = states[index];
          if (state) this.set({ outbox }, read(state));
        }
      },
    });
  gauge('outbox_pending', 'Events that have not been sent yet.', ({ events }) => events);
  gauge('outbox_undeliverable', 'Documents whose events the bus refuses.', ({ undeliverable }) => undeliverable);
  gauge('outbox_oldest_age_seconds', 'Seconds that the oldest unsent event has been waiting.', ({ oldestAt }) =>
    oldestAt === undefined ? 0 : Math.max(0, (Date.now() - oldestAt) / 1000),
  );
}
