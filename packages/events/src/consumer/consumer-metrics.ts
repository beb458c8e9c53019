import { Counter, Gauge, type Registry } from 'prom-client';
import type { DeadLetters } from '../dead-letters/dead-letters.ts';
import type { Consumer, ConsumerState } from './consumer.ts';

/**
 * Registers the metrics of consumers. They are measured whenever the metrics are read.
 * Source: docs/reference/guarantees.md, What is measured.
 */
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
  gauge(
    'consumer_lag_seconds',
    'Seconds that the oldest unhandled event has been waiting.',
    ({ lagSeconds }) => lagSeconds,
  );
  gauge('consumer_lag_messages', 'Events that have not been handled yet.', ({ lagMessages }) => lagMessages);
  new Gauge({
    name: 'consumer_blocked_keys',
    help: 'Keys that are blocked because one of their events is dead-lettered.',
    labelNames: ['group'],
    registers: [registry],
    async collect() {
      for (const { group } of consumers) {
        // If the store is unavailable, nothing is reported.
        const count = await deadLetters.countBlockedKeys(group).catch(() => undefined);
        if (count !== undefined) this.set({ group }, count);
      }
    },
  });
  new Counter({
    name: 'consumer_restarts_total',
    help: 'How often a consumer was stuck and was restarted.',
    labelNames: ['group'],
    registers: [registry],
    collect() {
      this.reset();
      for (const consumer of consumers) this.inc({ group: consumer.group }, consumer.state().restarts);
    },
  });
}
