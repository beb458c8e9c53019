import { readMeasured } from '@ticketing/runtime/read-measured.ts';
import { Gauge, type Registry } from 'prom-client';
import type { Bus } from '../bus/bus.ts';
import type { DeadLetters } from '../dead-letters/dead-letters.ts';

/** A consumer group, and where its events are. */
export interface MeasuredGroup {
  bus: Pick<Bus, 'lag' | 'oldestPending'>;
  group: string;
  topics: readonly string[];
  deadLetters: Pick<DeadLetters, 'countBlockedKeys'>;
}

/**
 * Registers the metrics of a consumer group, from its committed offsets and its dead letters: they are right while none
 * of its consumers runs. They are measured whenever the metrics are read; values that cannot be read then are left out.
 *
 * Source: docs/reference/guarantees.md, What is measured.
 */
export function measureGroup({ bus, group, topics, deadLetters }: MeasuredGroup, registry: Registry): void {
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    new Gauge({
      name,
      help,
      labelNames: ['group'],
      registers: [registry],
      async collect() {
        const value = await readMeasured(read);
        this.reset();
        if (value !== undefined) this.set({ group }, value);
      },
    });
  gauge('consumer_lag_seconds', 'Seconds that the oldest unhandled event has been waiting.', async () => {
    const since = await bus.oldestPending(group, topics);
    return since === undefined ? 0 : Math.max(0, (Date.now() - since) / 1000);
  });
  gauge('consumer_lag_messages', 'Events that have not been handled yet.', () => bus.lag(group, topics));
  gauge('consumer_blocked_keys', 'Keys that are blocked because one of their events is dead-lettered.', () =>
    deadLetters.countBlockedKeys(group),
  );
}
