import { WebhookStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import type { Context } from '../../context.ts';
import { attemptsAtOnce } from '../rules/health.ts';

/**
 * Counts the deliveries that are due and not made yet. Deliveries whose next attempt is later do not count, nor do
 * deliveries to endpoints without attempts at present, because they may wait for as long as the receiver fails.
 */
export async function countDueDeliveries({
  webhooks,
  deliveries,
  runtime,
}: Pick<Context, 'webhooks' | 'deliveries' | 'runtime'>): Promise<number> {
  const now = runtime.now();
  const attempted = (await webhooks.all()).filter(
    ({ status, health }) => status === WebhookStatus.ACTIVE && attemptsAtOnce(health, now) > 0,
  );
  return deliveries.countDue(
    attempted.map(({ id }) => id),
    now,
  );
}
