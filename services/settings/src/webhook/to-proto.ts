import type { Webhook } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { toTimestamp } from '@ticketing/rest/codec/date-time.ts';
import type { WebhookState } from './rules/endpoint.ts';

/** Converts an endpoint to its protobuf form, without its secret. */
export function webhookToProto(state: WebhookState): Webhook {
  const { id, url, description, eventTypes, subchannelIds, status, disabledReason, createdAt } = state;
  return {
    $typeName: 'ticketing.settings.v1.Webhook',
    id,
    url,
    ...(description === null ? {} : { description }),
    eventTypes: [...eventTypes],
    subchannelIds: [...subchannelIds],
    status,
    ...(disabledReason === null ? {} : { disabledReason }),
    createdAt: toTimestamp(createdAt),
  };
}
