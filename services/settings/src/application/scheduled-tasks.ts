import type { ScheduledTask } from '@ticketing/service-kit/lifecycle/schedule.ts';
import type { Context } from './context.ts';
import { encryptSecretsAgain } from './encrypt-secrets-again.ts';

const day = 24 * 60 * 60 * 1000;
const retentionMs = 30 * day;
/** An event stays 30 days, and so does a delivery that is made of it on its last day. */
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

/** Removes deliveries after 30 days, and those that were added in the moment in which their endpoint was deleted. */
async function removeOldDeliveries({ webhooks, deliveries, erasedTickets, runtime }: Context): Promise<void> {
  await deliveries.removeOlderThan(runtime.now() - retentionMs);
  // Read before the endpoints, because an endpoint is older than its deliveries.
  const withDeliveries = await deliveries.webhookIds();
  const existing = new Set((await webhooks.all()).map(({ id }) => id));
  for (const id of withDeliveries) if (!existing.has(id)) await deliveries.removeOf(id);
  await erasedTickets.removeOlderThan(runtime.now() - erasedMs);
}
