import { WebhookStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { readMeasured } from '@ticketing/runtime/read-measured.ts';
import { Counter, Gauge, type Registry } from 'prom-client';
import { attemptsAtOnce } from '../rules/health.ts';
import type { DeliveryParts } from './open.ts';

/** A restart of a receiver or one lost attempt is not worth a report. */
const failingMs = 5 * 60_000;

/**
 * Registers the metrics of webhooks. Metrics of the store are measured whenever the metrics are read, in every process
 * of the service, so they are available while no dispatcher runs.
 *
 * Source: docs/reference/guarantees.md, What is measured.
 */
export function measureWebhooks(
  { webhooks, deliveries, runtime }: Pick<DeliveryParts, 'webhooks' | 'deliveries' | 'runtime'>,
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
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const value = await readMeasured(read);
        this.remove();
        if (value !== undefined) this.set(value);
      },
    });
  gauge('webhook_endpoints_disabled', 'Webhook endpoints that are disabled.', () => webhooks.countDisabled());
  gauge(
    'webhook_endpoints_failing',
    'Active webhook endpoints whose attempts have only failed for five minutes or longer.',
    () => webhooks.countFailingSince(runtime.now() - failingMs),
  );
  gauge('webhook_oldest_pending_seconds', 'Age of the oldest delivery that is still attempted, or waits.', async () => {
    const oldest = await deliveries.oldestPending();
    return oldest === undefined ? 0 : Math.max(0, (runtime.now() - oldest) / 1000);
  });
  return { count: (outcome) => attempts.inc({ outcome }) };
}

/**
 * Counts the deliveries that are due and not made yet. Deliveries whose next attempt is later do not count, nor do
 * deliveries to endpoints without attempts at present, because they may wait for as long as the receiver fails.
 */
export async function countDueDeliveries({
  webhooks,
  deliveries,
  runtime,
}: Pick<DeliveryParts, 'webhooks' | 'deliveries' | 'runtime'>): Promise<number> {
  const now = runtime.now();
  const attempted = (await webhooks.all()).filter(
    ({ status, health }) => status === WebhookStatus.ACTIVE && attemptsAtOnce(health, now) > 0,
  );
  return deliveries.countDue(
    attempted.map(({ id }) => id),
    now,
  );
}
