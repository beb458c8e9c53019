import type {
  ListWebhooksRequest,
  ListWebhooksResponse,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import type { WebhookParts } from './open.ts';
import { webhookToProto } from './to-proto.ts';

/** Lists the webhook endpoints by id. Source: docs/reference/api.md, Webhooks. */
export async function listWebhooks(
  { webhooks }: WebhookParts,
  _call: Call,
  { limit = 100, offset = 0 }: ListWebhooksRequest,
): Promise<ListWebhooksResponse> {
  const all = await webhooks.all();
  return {
    $typeName: 'ticketing.settings.v1.ListWebhooksResponse',
    success: true,
    webhooks: all.slice(offset, offset + limit).map(webhookToProto),
    total: all.length,
    limit,
    offset,
  };
}
