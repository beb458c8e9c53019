import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import type { Context } from '../../context.ts';
import type { measureWebhooks } from '../delivery/metrics.ts';
import { endpointCache } from './endpoint-cache.ts';
import { deliveryQueue } from './queue-store.ts';
import { type Dispatcher, startDispatcher } from './start.ts';

/** Starts the dispatcher of this process, which requests and events of this process then wake. */
export function openDispatcher(
  context: Context,
  { database }: Pick<Kit<unknown, unknown>, 'database'>,
  { count }: ReturnType<typeof measureWebhooks>,
): Dispatcher {
  const { webhooks, outbound, secretBox, runtime, log, tracer } = context;
  const endpoints = endpointCache(webhooks);
  const queue = deliveryQueue(database.connection);
  const dispatcher = startDispatcher({
    database,
    context: { endpoints, queue, webhooks, outbound, secretBox, runtime, log, tracer, count },
  });
  context.dispatcher = dispatcher;
  return dispatcher;
}
