import { Counter, Gauge, type Registry } from 'prom-client';
import type { DeadLetters } from '../dead-letters/dead-letters.ts';
import type { Consumer, ConsumerState } from './consumer.ts';

/** Measures how far consumers are behind, when the metrics are read. Source: guarantees.md section 7. */
export function measureConsumers(consumers: readonly Consumer[], deadLetters: DeadLetters, registry: Registry): void {
  const gauge = (name: string, help: string, read: (state: ConsumerState) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['group'],
      registers: [registry],
      collect() {
        for (const consumer of consumers) this.set({ group: consumer.group }, read(consumer.state()));
      },
    });
  gauge('consumer_lag_seconds', 'How long the oldest event waits to be handled.', ({ lagSeconds }) => lagSeconds);
  gauge('consumer_lag_messages', 'Events that are not handled yet.', ({ lagMessages }) => lagMessages);
  new Gauge({
    name: 'consumer_parked_keys',
    help: 'Keys whose events wait because one of them could not be handled.',
    labelNames: ['group'],
    registers: [registry],
    async collect() {
      for (const { group } of consumers) {
        const count = await deadLetters.countKeys(group).catch(() => undefined);
        if (count !== undefined) this.set({ group }, count);
      }
    },
  });
  new Counter({
    name: 'consumer_restarts_total',
    help: 'How often a consumer was stuck and started again.',
    labelNames: ['group'],
    registers: [registry],
    collect() {
      this.reset();
      for (const consumer of consumers) this.inc({ group: consumer.group }, consumer.state().restarts);
    },
  });
}
