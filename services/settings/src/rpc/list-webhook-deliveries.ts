import type {
  ListWebhookDeliveriesRequest,
  ListWebhookDeliveriesResponse,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/large-response.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { isLargePage, maxPageBytes, requirePageSize } from '@ticketing/store/page-budget.ts';
import type { Context } from '../application/context.ts';
import { deliveryMessage, deliverySize } from '../application/delivery-message.ts';
import { findWebhook } from '../application/find-webhook.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { DeliveryPage, DeliveryStore } from '../store/delivery-store.ts';

/** About what a delivery takes whose attempts have long responses. */
const expectedBytes = 16 * 1024;
const batchSize = 100;

/**
 * Lists the deliveries to a webhook endpoint, the newest first.
 *
 * Errors: webhook_not_found; invalid_cursor; page_too_large, too_much_at_once.
 * Source: docs/reference/api.md, Webhooks.
 */
export async function listWebhookDeliveries(
  context: Context,
  call: Call,
  { id, status, limit = 100, cursor }: ListWebhookDeliveriesRequest,
): Promise<ListWebhookDeliveriesResponse> {
  await findWebhook(context, id);
  const { cursors, deliveries, pages } = context;
  const boundTo = { webhook: id, status: status ?? null };
  const afterId = cursor === undefined ? undefined : String(cursors.read(cursor, boundTo).value);
  await pages.take(callerKey(call.caller), Math.min(limit * expectedBytes, maxPageBytes), call);
  const found = await readUpTo(deliveries, id, { status, afterId, limit: limit + 1 });
  const page = found.slice(0, limit);
  const sizes = page.map(deliverySize);
  requirePageSize(sizes);
  const last = found.length > limit ? page.at(-1) : undefined;
  const position = { now: 0, total: 0, offset: 0, segment: 0, id: 0 };
  const response: ListWebhookDeliveriesResponse = {
    $typeName: 'ticketing.settings.v1.ListWebhookDeliveriesResponse',
    success: true,
    deliveries: page.map(deliveryMessage),
    ...(last ? { nextCursor: cursors.write({ ...position, value: last.id }, boundTo) } : {}),
  };
  return isLargePage(sizes) ? markAsLarge(response) : response;
}

/** Reads a page in batches, and no further when it has become too large. */
async function readUpTo(deliveries: DeliveryStore, id: number, page: DeliveryPage): Promise<Delivery[]> {
  const found: Delivery[] = [];
  for (let bytes = 0; found.length < page.limit && bytes <= maxPageBytes; ) {
    const limit = Math.min(batchSize, page.limit - found.length);
    const batch = await deliveries.list(id, { ...page, afterId: found.at(-1)?.id ?? page.afterId, limit });
    found.push(...batch);
    bytes += batch.reduce((sum, delivery) => sum + deliverySize(delivery), 0);
    if (batch.length < limit) break;
  }
  return found;
}
