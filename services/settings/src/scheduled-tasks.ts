import type { ScheduledTask } from '@ticketing/service-kit/lifecycle/schedule.ts';
import type { Context } from './context.ts';
import { encryptSecretsAgain } from './encrypt-secrets-again.ts';

const day = 24 * 60 * 60 * 1000;
const retentionMs = 30 * day;
/**
 * Longer than the feed keeps an event, after which no delivery of it can be added. The deliveries themselves are marked
 * as erased.
 */
const erasedMs = 3 * retentionMs;

/** The scheduled tasks of this service. */
export function scheduledTasks(context: Context): ScheduledTask[] {
  const { events, runtime } = context;
  return [
    {
      name: 'remove old events',
      everyMs: 60 * 60_000,
      run: () => events.removeOlderThan(new Date(runtime.now() - retentionMs)),
    },
    {
      name: 'encrypt secrets with the current key',
      everyMs: 60_000,
      run: () => encryptSecretsAgain(context),
    },
    { name: 'remove old deliveries', everyMs: 60 * 60_000, run: () => removeOldDeliveries(context) },
  ];
}

/**
 * Ends deliveries that could not be made for 30 days. Removes deliveries that ended 30 days ago, and deliveries that
 * were added while their endpoint was being deleted.
 */
async function removeOldDeliveries({ webhooks, deliveries, erasedTickets, runtime, log }: Context): Promise<void> {
  const now = runtime.now();
  const expired = await deliveries.expire(now - retentionMs, now);
  if (expired > 0) log.warn({ count: expired }, 'deliveries of webhooks could not be made for 30 days, and have ended');
  await deliveries.removeOlderThan(now - retentionMs);
  // Read before the endpoints, because an endpoint is older than its deliveries.
  const withDeliveries = await deliveries.webhookIds();
  const existing = new Set((await webhooks.all()).map(({ id }) => id));
  for (const id of withDeliveries) if (!existing.has(id)) await deliveries.removeOf(id);
  await erasedTickets.removeOlderThan(now - erasedMs);
}
