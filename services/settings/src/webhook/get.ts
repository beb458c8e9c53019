import type {
  GetWebhookRequest,
  GetWebhookResponse,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { findWebhook } from './find.ts';
import type { WebhookParts } from './open.ts';
import { webhookToProto } from './to-proto.ts';

/** Reads one webhook endpoint. Errors: webhook_not_found. Source: docs/reference/api.md, Webhooks. */
export async function getWebhook(
  parts: WebhookParts,
  _call: Call,
  { id }: GetWebhookRequest,
): Promise<GetWebhookResponse> {
  const webhook = webhookToProto(await findWebhook(parts, id));
  return { $typeName: 'ticketing.settings.v1.GetWebhookResponse', webhook };
}
