import { Gauge, type Registry } from 'prom-client';
import type { TicketStore } from '../store/ticket-store.ts';

/** Measures what services have not erased yet of deleted tickets, when the metrics are read. */
export function measureErasures(tickets: Pick<TicketStore, 'erasures'>, registry: Registry): void {
  type Erasure = Awaited<ReturnType<TicketStore['erasures']>>[number];
  const gauge = (name: string, help: string, read: (erasure: Erasure) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['owner'],
      registers: [registry],
      async collect() {
        const erasures = await tickets.erasures().catch(() => undefined);
        if (!erasures) return;
        this.reset();
        for (const erasure of erasures) this.set({ owner: erasure.service }, read(erasure));
      },
    });
  gauge('erasures_pending', 'Deleted tickets of which a service may still keep something.', ({ count }) => count);
  gauge('erasures_oldest_age_seconds', 'How long the oldest of them has been deleted.', ({ oldestAt }) =>
    Math.max(0, (Date.now() - oldestAt.getTime()) / 1000),
  );
}
