import {
  type UpdateWebhookRequest,
  type UpdateWebhookResponse,
  WebhookStatus,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { notFound } from '@ticketing/errors/domain-error.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { findWebhook } from './find.ts';
import type { WebhookParts } from './open.ts';
import type { WebhookState } from './rules/endpoint.ts';
import { healthy } from './rules/health.ts';
import type { WebhookChange } from './store.ts';
import { webhookToProto } from './to-proto.ts';
import { requireValidWebhook } from './validate.ts';

/**
 * Changes a webhook endpoint. One that was disabled starts without failures, and gets the events from now on.
 *
 * Errors: webhook_not_found; address_refused, invalid_url, unknown_subchannel, not_allowed.
 * Source: docs/reference/api.md, Webhooks.
 */
export async function updateWebhook(
  parts: WebhookParts,
  _call: Call,
  request: UpdateWebhookRequest,
): Promise<UpdateWebhookResponse> {
  const { id } = request;
  const before = await findWebhook(parts, id);
  const change = toChange(request);
  await requireValidWebhook(parts, change);
  const restart = await decideRestart(parts, before, change);
  const webhook = await parts.webhooks.change(id, { ...change, ...restart }, restart !== undefined);
  if (!webhook) throw notFound('Webhook');
  parts.wakeForEndpoints();
  return {
    $typeName: 'ticketing.settings.v1.UpdateWebhookResponse',
    success: true,
    webhook: webhookToProto(webhook),
  };
}

/** Returns the fields that the mask names. The contract's rules have checked that a field without a value may be cleared. */
function toChange(request: UpdateWebhookRequest): WebhookChange {
  const values: Record<string, { [Name in keyof WebhookChange]: WebhookChange[Name] | undefined }> = {
    url: { url: request.url },
    description: { description: request.description ?? null },
    event_types: { eventTypes: request.eventTypes },
    subchannel_ids: { subchannelIds: request.subchannelIds },
    // It may have been disabled since it was read.
    status: { status: request.status, disabledReason: null },
  };
  return Object.assign({}, ...(request.updateMask?.paths ?? []).map((path) => values[path]));
}

/**
 * Returns the fields that change as well when an endpoint is enabled again or gets another URL; undefined for other changes.
 */
async function decideRestart(
  { events }: WebhookParts,
  before: WebhookState,
  { url = before.url, status = before.status }: WebhookChange,
): Promise<WebhookChange | undefined> {
  const isContinued = status !== before.status && before.status !== WebhookStatus.ACTIVE;
  if (!isContinued) return url === before.url ? undefined : { health: healthy };
  if (before.status === WebhookStatus.PAUSED) return { health: healthy };
  return { health: healthy, afterPosition: (await events.bounds())?.last ?? 0 };
}
