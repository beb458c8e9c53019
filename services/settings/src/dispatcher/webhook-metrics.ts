import { Counter, Gauge, type Registry } from 'prom-client';
import type { Context } from '../application/context.ts';

/**
 * Registers the metrics of webhooks. Those of the store are measured whenever the metrics are read.
 *
 * Source: docs/reference/guarantees.md, What is measured.
 */
export function measureWebhooks(
  { webhooks, deliveries, runtime }: Pick<Context, 'webhooks' | 'deliveries' | 'runtime'>,
  registry: Registry,
): { count(outcome: string): void } {
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts to deliver an event to a webhook endpoint, by outcome: delivered, refused (another status), or why there was no whole response.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  // A counter that appears with its first increment seems not to have increased.
  for (const outcome of ['delivered', 'refused']) attempts.inc({ outcome }, 0);
  new Gauge({
    name: 'webhook_endpoints_disabled',
    help: 'Webhook endpoints that are disabled.',
    registers: [registry],
    async collect() {
      // If the store is unavailable, nothing is reported.
      const count = await webhooks.countDisabled().catch(() => undefined);
      if (count !== undefined) this.set(count);
    },
  });
  new Gauge({
    name: 'webhook_oldest_pending_seconds',
    help: 'Age of the oldest delivery that is still attempted, or waits.',
    registers: [registry],
    async collect() {
      const oldest = await deliveries.oldestPending().catch(() => null);
      if (oldest !== null) this.set(oldest === undefined ? 0 : Math.max(0, (runtime.now() - oldest) / 1000));
    },
  });
  return { count: (outcome) => attempts.inc({ outcome }) };
}
