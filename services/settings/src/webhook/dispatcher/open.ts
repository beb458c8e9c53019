import type { WakefulLoop } from '@ticketing/runtime/wakeful-loop.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { SecretBox } from '@ticketing/text/sealed-text.ts';
import type { WebhookStore } from '../store.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import { endpointCache } from './endpoint-cache.ts';
import { deliveryQueue } from './queue-store.ts';
import { type DispatcherParts, type RunningDispatcher, startDispatcher } from './start.ts';

/** The dispatcher of this process. It is woken by requests and events of the process, if the process has its role. */
export interface Dispatcher extends Pick<RunningDispatcher, 'wake' | 'wakeForEndpoints'> {
  start(): WakefulLoop;
}

type KitOfDispatcher = Pick<Kit<unknown, unknown>, 'database' | 'outbound' | 'runtime' | 'log' | 'tracer'>;

/** Opens the dispatcher on the database of a kit. */
export function openDispatcher(
  { database, outbound, runtime, log, tracer }: KitOfDispatcher,
  webhooks: WebhookStore,
  secretBox: SecretBox,
  count: DispatcherParts['count'],
): Dispatcher {
  let running: RunningDispatcher | undefined;
  return {
    wake: () => running?.wake(),
    wakeForEndpoints: () => running?.wakeForEndpoints(),
    start() {
      const sending = { outbound, secretBox, runtime, tracer };
      running = startDispatcher({
        database,
        endpoints: endpointCache(webhooks),
        queue: deliveryQueue(database.connection),
        webhooks,
        runtime,
        log,
        send: (webhook, delivery, signal) => attemptDelivery(sending, webhook, delivery, signal),
        count,
      });
      return running;
    },
  };
}
