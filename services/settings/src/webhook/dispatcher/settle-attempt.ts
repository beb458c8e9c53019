import {
  WebhookDeliveryStatus,
  WebhookDisabledReason,
  WebhookDisabledReasonSchema,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { readSpellings } from '@ticketing/rest/codec/options.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import type { PendingDelivery } from '../delivery/rules/delivery.ts';
import type { WebhookState } from '../rules/endpoint.ts';
import { hasFailedForDays, type WebhookHealth } from '../rules/health.ts';
import type { WebhookStore } from '../store.ts';
import type { AttemptOutcome } from './attempt-delivery.ts';
import type { EndpointCache } from './endpoint-cache.ts';
import type { EndpointHealth, ObservedHealth } from './endpoint-health.ts';
import type { DeliveryQueue } from './queue-store.ts';
import type { ResultRecorder } from './result-recorder.ts';
import { nextAttemptAt } from './rules/retry-schedule.ts';

/** The dependencies that record an attempt and its consequences. */
export interface SettlingParts {
  endpoints: EndpointCache;
  queue: Pick<DeliveryQueue, 'release' | 'exhaust'>;
  webhooks: Pick<WebhookStore, 'disable'>;
  recorder: ResultRecorder;
  runtime: Runtime;
  log: Logger;
  /** Counts an attempt, by its outcome. */
  count(outcome: string): void;
  /** Runs the dispatcher at a time in Unix ms, or soon afterwards. */
  wakeAt(time: number): void;
}

/** An attempt with its outcome. */
export interface SettledAttempt {
  /** The endpoint when the attempt began. */
  webhook: WebhookState;
  delivery: PendingDelivery;
  outcome: AttemptOutcome;
}

const disabledReasons = readSpellings(WebhookDisabledReasonSchema);
const { DELIVERED, RETRYING, EXHAUSTED } = WebhookDeliveryStatus;

/** Records an attempt and what follows from it. Returns whether the later deliveries of the ticket have to wait. */
export async function settleAttempt(
  parts: SettlingParts,
  endpointHealth: EndpointHealth,
  settled: SettledAttempt,
): Promise<boolean> {
  const { runtime, queue } = parts;
  const { webhook, delivery, outcome } = settled;
  const { attempt, isDelivered, retryAfter } = outcome;
  parts.count(isDelivered ? 'delivered' : (attempt.errorKind ?? 'refused'));
  const now = runtime.now();
  const observed = endpointHealth.afterAttempt(webhook, isDelivered, now);
  const { pausedUntil } = observed.health;
  const reason = isDelivered ? undefined : reasonToDisable(attempt.status, observed.health, now);
  if (reason !== undefined) {
    await endpointHealth.whileDisabling(webhook, async () => {
      // First, so that a process that dies in between leaves a delivery whose next attempt has the same result.
      const isDisabled = await parts.webhooks.disable(webhook.id, webhook.epoch, reason);
      await record(parts, settled, observed, undefined);
      if (isDisabled) await endAll(parts, webhook.id, reason);
    });
    return false;
  }
  const attemptsMade = delivery.attemptsMade + 1;
  const dueAt = isDelivered ? undefined : nextAttemptAt({ attemptsMade, now, random: runtime.random(), retryAfter });
  await record(parts, settled, observed, dueAt);
  if (dueAt !== undefined) parts.wakeAt(dueAt);
  else if (delivery.attemptsMade > 0 && delivery.ticketId !== null) await queue.release(webhook.id, delivery.ticketId);
  if (pausedUntil !== null) parts.wakeAt(pausedUntil);
  return dueAt !== undefined;
}

async function record(
  { recorder }: SettlingParts,
  { webhook, delivery, outcome: { attempt, isDelivered } }: SettledAttempt,
  { epoch, health, hasChanged }: ObservedHealth,
  dueAt: number | undefined,
): Promise<void> {
  const status = isDelivered ? DELIVERED : dueAt === undefined ? EXHAUSTED : RETRYING;
  await recorder.record(
    { id: delivery.id, attempt, attemptsMade: delivery.attemptsMade + 1, status, dueAt: dueAt ?? null },
    hasChanged ? { webhookId: webhook.id, epoch, health } : undefined,
  );
}

/** Ends the deliveries to an endpoint that was disabled. */
async function endAll(
  { endpoints, queue, runtime, log }: SettlingParts,
  webhookId: number,
  reason: WebhookDisabledReason,
): Promise<void> {
  log.warn({ webhookId, reason: disabledReasons.get(reason) }, 'a webhook was disabled');
  endpoints.invalidate();
  await queue.exhaust(webhookId, runtime.now());
}

function reasonToDisable(status: number | null, health: WebhookHealth, now: number): WebhookDisabledReason | undefined {
  if (status === 410) return WebhookDisabledReason.GONE;
  return hasFailedForDays(health, now) ? WebhookDisabledReason.FAILED_FOR_DAYS : undefined;
}
