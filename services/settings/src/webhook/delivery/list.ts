import type {
  ListWebhookDeliveriesRequest,
  ListWebhookDeliveriesResponse,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/limits/large-response.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import { countThatFits, isLargePage } from '@ticketing/store/paging/page-budget.ts';
import { findWebhook } from '../find.ts';
import type { DeliveryParts } from './open.ts';
import { deliveryToProto } from './to-proto.ts';

/**
 * Lists the deliveries to a webhook endpoint, the newest first. A page ends where its bytes would be too many.
 *
 * Errors: webhook_not_found; invalid_cursor; too_much_at_once.
 * Source: docs/reference/api.md, Webhooks.
 */
export async function listWebhookDeliveries(
  parts: DeliveryParts,
  call: Call,
  { id, status, limit = 100, cursor }: ListWebhookDeliveriesRequest,
): Promise<ListWebhookDeliveriesResponse> {
  await findWebhook(parts, id);
  const { cursors, deliveries, pages } = parts;
  const boundTo = { webhook: id, status: status ?? null };
  const afterId = cursor === undefined ? undefined : String(cursors.read(cursor, boundTo).value);
  const entries = await deliveries.sizes(id, { status, afterId, limit: limit + 1 });
  // One delivery always fits.
  const page = entries.slice(0, Math.min(limit, countThatFits(entries.map(({ bytes }) => bytes))));
  const sizes = page.map(({ bytes }) => bytes);
  await pages.take(
    callerKey(call.caller),
    sizes.reduce((sum, bytes) => sum + bytes, 0),
    call,
  );
  const last = entries.length > page.length ? page.at(-1) : undefined;
  const position = { now: 0, total: 0, offset: 0, segment: 0, id: 0 };
  const response: ListWebhookDeliveriesResponse = {
    $typeName: 'ticketing.settings.v1.ListWebhookDeliveriesResponse',
    success: true,
    deliveries: (await deliveries.read(page.map(({ id }) => id))).map(deliveryToProto),
    ...(last ? { nextCursor: cursors.write({ ...position, value: last.id }, boundTo) } : {}),
  };
  return isLargePage(sizes) ? markAsLarge(response) : response;
}
