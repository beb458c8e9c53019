import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import {
  WebhookDeliveryStatus,
  WebhookDisabledReason,
  WebhookDisabledReasonSchema,
  WebhookStatus,
} from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { spellingsOf } from '@ticketing/rest/options.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { isTransient } from '@ticketing/store/transient-error.ts';
import type { Delivery } from '../domain/delivery.ts';
import { pendingQueue } from '../domain/pending-queue.ts';
import { nextAttemptAt } from '../domain/retry-schedule.ts';
import type { WebhookState } from '../domain/webhook.ts';
import {
  afterFailure,
  attemptsAtOnce,
  hasFailedForDays,
  healthy,
  type WebhookHealth,
} from '../domain/webhook-health.ts';
import type { DeliveryQueue } from '../store/delivery-queue.ts';
import type { WebhookStore } from '../store/webhook-store.ts';
import { type AttemptContext, type AttemptOutcome, attemptDelivery } from './attempt-delivery.ts';
import type { EndpointCache } from './endpoint-cache.ts';
import type { ResultRecorder } from './result-recorder.ts';

/** What the workers of a process share. */
export interface WorkerContext extends AttemptContext {
  endpoints: EndpointCache;
  queue: DeliveryQueue;
  webhooks: WebhookStore;
  recorder: ResultRecorder;
  log: Logger;
  /** Counts an attempt, by its outcome. */
  count(outcome: string): void;
  /** Runs the dispatcher at a time in Unix ms, or soon afterwards. */
  wakeAt(time: number): void;
}

/** Makes the deliveries to one endpoint. */
export interface EndpointWorker {
  /** Looks for deliveries that are due, and for changes of the endpoint. */
  wake(): void;
  /** Whether it would look at new deliveries if it were woken. */
  wantsMore(): boolean;
  /** How many attempts may be made at once now. */
  attemptsAtOnce(webhook: WebhookState): number;
  /** The ids of the deliveries that are being attempted. */
  attempted(): string[];
  /** Begins no attempt any more, and resolves when those that are being made have ended, or were ended after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

const disabledReasons = spellingsOf(WebhookDisabledReasonSchema);
const windowSize = 100;
/** Below this many in memory, more are read. */
const lowMark = 50;
const { DELIVERED, RETRYING, EXHAUSTED } = WebhookDeliveryStatus;

/** Starts a worker, which waits until it is woken. */
export function startEndpointWorker(context: WorkerContext, webhookId: number): EndpointWorker {
  const { endpoints, runtime, log } = context;
  const pending = pendingQueue();
  const changes = new EventEmitter();
  const ending = new AbortController();
  const attempts = new Set<Promise<void>>();
  let known: { epoch: number; health: WebhookHealth } | undefined;
  let running: Promise<void> | undefined;
  let mayHaveMore = false;
  let isStopping = false;
  /** Until when no attempt is made because this process cannot make one. */
  let brokenUntil = 0;
  /** The epoch in which the endpoint is being disabled. */
  let endingEpoch = 0;

  /** The health that this process has observed, unless a request has changed it meanwhile. */
  function healthOf({ epoch, health }: WebhookState): { epoch: number; health: WebhookHealth } {
    if (!known || known.epoch < epoch) known = { epoch, health };
    return known;
  }

  function allowedBy(webhook: WebhookState): number {
    const isEnding = webhook.epoch <= endingEpoch;
    return isEnding || performance.now() < brokenUntil ? 0 : attemptsAtOnce(healthOf(webhook).health, runtime.now());
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      const webhook = (await endpoints.read()).get(webhookId);
      const allowed = webhook?.status === WebhookStatus.ACTIVE ? allowedBy(webhook) : 0;
      if (allowed === 0) pending.clear();
      if (mayHaveMore && allowed > 0 && pending.waiting() < lowMark) await load();
      if (webhook) startAttempts(webhook, allowed);
      const needsMore = mayHaveMore && allowed > 0 && pending.waiting() < lowMark;
      if (needsMore) continue;
      if (attempts.size === 0) return;
      await nextChange();
    }
  }

  /** Reads deliveries, until there are enough or no more. */
  async function load(): Promise<void> {
    // Before the read, because what happens meanwhile may call for another one.
    mayHaveMore = false;
    const found = await context.queue.due(webhookId, runtime.now(), pending.tickets(), windowSize);
    const hasTakenAll = pending.add(found.deliveries);
    if (found.mayHaveMore || !hasTakenAll) mayHaveMore = true;
  }

  function startAttempts(webhook: WebhookState, allowed: number): void {
    while (!isStopping && attempts.size < allowed) {
      const delivery = pending.next();
      if (!delivery) return;
      const attempt: Promise<void> = attemptAndRecord(webhook, delivery)
        .catch(onUnexpected)
        .finally(() => {
          attempts.delete(attempt);
          // The later deliveries of a ticket are not read while one of it is being attempted.
          if (attempts.size === 0 && pending.waiting() === 0) mayHaveMore = true;
          changes.emit('change');
        });
      attempts.add(attempt);
    }
  }

  async function attemptAndRecord(webhook: WebhookState, delivery: Delivery): Promise<void> {
    let isBlocked = true;
    try {
      const outcome = await attemptDelivery(context, webhook, delivery, ending.signal);
      if (outcome) isBlocked = await settle(webhook, delivery, outcome);
    } finally {
      pending.done(delivery, isBlocked);
    }
  }

  /** Records an outcome. Returns whether the later deliveries of the ticket have to wait. */
  async function settle(webhook: WebhookState, delivery: Delivery, outcome: AttemptOutcome): Promise<boolean> {
    const { attempt, isDelivered, retryAfter } = outcome;
    context.count(isDelivered ? 'delivered' : (attempt.errorKind ?? 'refused'));
    const attemptsMade = delivery.attemptsMade + 1;
    const now = runtime.now();
    const { epoch, health: before } = healthOf(webhook);
    const health = isDelivered ? healthy : afterFailure(before, now);
    known = { epoch, health };
    const reason = isDelivered ? undefined : reasonToDisable(attempt.status, health, now);
    if (reason !== undefined) endingEpoch = webhook.epoch;
    const isLast = isDelivered || reason !== undefined;
    const dueAt = isLast ? undefined : nextAttemptAt({ attemptsMade, now, random: runtime.random(), retryAfter });
    const status = isDelivered ? DELIVERED : dueAt === undefined ? EXHAUSTED : RETRYING;
    const hasChanged = before.failuresInRow !== health.failuresInRow;
    await context.recorder.record(
      { id: delivery.id, attempt, attemptsMade, status, dueAt: dueAt ?? null },
      hasChanged ? { webhookId, epoch, health } : undefined,
    );
    if (reason !== undefined) await disable(webhook, reason);
    else if (dueAt !== undefined) context.wakeAt(dueAt);
    else if (delivery.attemptsMade > 0 && delivery.ticketId !== null) {
      await context.queue.release(webhookId, delivery.ticketId);
    }
    if (health.pausedUntil !== null) context.wakeAt(health.pausedUntil);
    return dueAt !== undefined;
  }

  async function disable({ epoch }: WebhookState, reason: WebhookDisabledReason): Promise<void> {
    try {
      if (!(await context.webhooks.disable(webhookId, epoch, reason))) return;
      log.warn({ webhookId, reason: disabledReasons.get(reason) }, 'a webhook was disabled');
      endpoints.invalidate();
      await context.queue.exhaust(webhookId);
    } finally {
      endingEpoch = 0;
    }
  }

  function onUnexpected(error: unknown): void {
    log.error({ err: error, webhookId }, 'an attempt of a webhook could not be made');
    const pauseMs = isTransient(error) ? 1_000 : 30_000;
    brokenUntil = performance.now() + pauseMs;
    context.wakeAt(runtime.now() + pauseMs);
  }

  async function nextChange(): Promise<void> {
    await once(changes, 'change', { signal: ending.signal }).catch(() => undefined);
  }

  return {
    wake() {
      mayHaveMore = true;
      changes.emit('change');
      running ??= run()
        .catch((error: unknown) => log.warn({ err: error, webhookId }, 'deliveries of a webhook cannot be read'))
        .finally(() => {
          running = undefined;
        });
    },
    wantsMore: () => running === undefined || pending.waiting() === 0,
    attemptsAtOnce: allowedBy,
    attempted: () => pending.attempted(),
    async stop(graceMs) {
      isStopping = true;
      changes.emit('change');
      const timer = new AbortController();
      const ended = Promise.all(attempts).finally(() => timer.abort());
      await setTimeout(graceMs, undefined, { signal: timer.signal }).catch(() => undefined);
      ending.abort();
      await ended;
      await running;
    },
  };
}

function reasonToDisable(status: number | null, health: WebhookHealth, now: number): WebhookDisabledReason | undefined {
  if (status === 410) return WebhookDisabledReason.GONE;
  return hasFailedForDays(health, now) ? WebhookDisabledReason.FAILED_FOR_DAYS : undefined;
}
