import type { Logger } from '@ticketing/runtime/logger.ts';
import { retentionMs } from '../../feed/rules/event.ts';
import type { DeliveryParts } from './open.ts';

/**
 * Longer than the feed keeps an event, after which no delivery of it can be added. The deliveries themselves are marked
 * as erased.
 */
const erasedMs = 3 * retentionMs;

/**
 * Ends deliveries that could not be made for 30 days. Removes deliveries that ended 30 days ago, and deliveries that
 * were added while their endpoint was being deleted.
 */
export async function removeOldDeliveries(
  { webhooks, deliveries, erasedTickets, runtime }: DeliveryParts,
  log: Logger,
): Promise<void> {
  const now = runtime.now();
  const expired = await deliveries.expire(now - retentionMs, now);
  if (expired > 0) log.warn({ count: expired }, 'deliveries of webhooks could not be made for 30 days, and have ended');
  await deliveries.removeOlderThan(now - retentionMs);
  // Read before the endpoints, because an endpoint is older than its deliveries.
  const withDeliveries = await deliveries.webhookIds();
  const existing = new Set((await webhooks.all()).map(({ id }) => id));
  for (const id of withDeliveries) if (!existing.has(id)) await deliveries.removeByWebhook(id);
  await erasedTickets.removeOlderThan(now - erasedMs);
}
