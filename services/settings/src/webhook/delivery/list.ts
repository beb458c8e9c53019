import type {
  ListWebhookDeliveriesRequest,
  ListWebhookDeliveriesResponse,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { markAsLarge } from '@ticketing/rest/large-response.ts';
import { callerKey } from '@ticketing/service-kit/identity/caller.ts';
import type { Call } from '@ticketing/service-kit/server/call.ts';
import { countThatFits, isLargePage } from '@ticketing/store/page-budget.ts';
import type { Context } from '../../context.ts';
import { findWebhook } from '../find.ts';
import { deliveryMessage } from './to-proto.ts';

/**
 * Lists the deliveries to a webhook endpoint, the newest first. A page ends where its bytes would be too many.
 *
 * Errors: webhook_not_found; invalid_cursor; too_much_at_once.
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
  const found = await deliveries.sizes(id, { status, afterId, limit: limit + 1 });
  // One delivery always fits.
  const page = found.slice(0, Math.min(limit, countThatFits(found.map(({ bytes }) => bytes))));
  const sizes = page.map(({ bytes }) => bytes);
  await pages.take(
    callerKey(call.caller),
    sizes.reduce((sum, bytes) => sum + bytes, 0),
    call,
  );
  const last = found.length > page.length ? page.at(-1) : undefined;
  const position = { now: 0, total: 0, offset: 0, segment: 0, id: 0 };
  const response: ListWebhookDeliveriesResponse = {
    $typeName: 'ticketing.settings.v1.ListWebhookDeliveriesResponse',
    success: true,
    deliveries: (await deliveries.read(page.map(({ id }) => id))).map(deliveryMessage),
    ...(last ? { nextCursor: cursors.write({ ...position, value: last.id }, boundTo) } : {}),
  };
  return isLargePage(sizes) ? markAsLarge(response) : response;
}
