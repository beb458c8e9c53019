import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { WebhookStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { isTransient } from '@ticketing/store/document/transient-error.ts';
import type { PendingDelivery } from '../delivery/rules/delivery.ts';
import type { WebhookState } from '../rules/endpoint.ts';
import type { AttemptOutcome } from './attempt-delivery.ts';
import type { EndpointCache } from './endpoint-cache.ts';
import { type EndpointHealth, endpointHealth } from './endpoint-health.ts';
import type { DeliveryQueue } from './queue-store.ts';
import { pendingQueue } from './rules/pending-queue.ts';
import type { SettledAttempt } from './settle-attempt.ts';

/** Makes an attempt. Returns undefined if the signal has ended it. */
export type SendDelivery = (
  webhook: WebhookState,
  delivery: PendingDelivery,
  signal: AbortSignal,
) => Promise<AttemptOutcome | undefined>;

/** The dependencies that the workers of a process share. */
export interface WorkerParts {
  endpoints: EndpointCache;
  queue: Pick<DeliveryQueue, 'due'>;
  runtime: Pick<Runtime, 'now'>;
  log: Logger;
  send: SendDelivery;
  /** Records an attempt. Returns whether the later deliveries of the ticket have to wait. */
  settle(health: EndpointHealth, attempt: SettledAttempt): Promise<boolean>;
  /** Runs the dispatcher at a time in Unix ms, or soon afterwards. */
  wakeAt(time: number): void;
}

/** Makes the deliveries to one endpoint. */
export interface EndpointWorker {
  /** Looks for deliveries that are due, and for changes of the endpoint. */
  wake(): void;
  /** Whether it would look at new deliveries if it were woken. */
  wantsMore(): boolean;
  /** Returns how many attempts may be made at once now. */
  attemptsAtOnce(webhook: WebhookState): number;
  /** Returns the ids of the deliveries that are being attempted. */
  attempted(): string[];
  /** Starts no more attempts, and resolves when the running ones have ended, or were ended after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

const windowSize = 100;
/** More deliveries are read when fewer than this wait in memory. */
const lowMark = 50;

/** Starts a worker, which waits until it is woken. */
export function startEndpointWorker(parts: WorkerParts, webhookId: number): EndpointWorker {
  const { endpoints, queue, runtime, log } = parts;
  const health = endpointHealth();
  const pending = pendingQueue();
  const changes = new EventEmitter();
  const ending = new AbortController();
  const attempts = new Set<Promise<void>>();
  let running: Promise<void> | undefined;
  let mayHaveMore = false;
  let isStopping = false;

  async function run(): Promise<void> {
    while (!isStopping) {
      const webhook = (await endpoints.read()).get(webhookId);
      const allowed = webhook?.status === WebhookStatus.ACTIVE ? health.attemptsAtOnce(webhook, runtime.now()) : 0;
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
    // Cleared before the read, because a wake during the read must cause another one.
    mayHaveMore = false;
    const due = await queue.due(webhookId, runtime.now(), pending.tickets(), windowSize);
    const hasTakenAll = pending.add(due.deliveries);
    if (due.mayHaveMore || !hasTakenAll) mayHaveMore = true;
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

  async function attemptAndRecord(webhook: WebhookState, delivery: PendingDelivery): Promise<void> {
    let isBlocked = true;
    try {
      const outcome = await parts.send(webhook, delivery, ending.signal);
      if (outcome) isBlocked = await parts.settle(health, { webhook, delivery, outcome });
    } finally {
      pending.done(delivery, isBlocked);
    }
  }

  function onUnexpected(error: unknown): void {
    log.error({ err: error, webhookId }, 'an attempt of a webhook could not be made');
    const pauseMs = isTransient(error) ? 1_000 : 30_000;
    health.pauseFor(pauseMs);
    parts.wakeAt(runtime.now() + pauseMs);
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
    attemptsAtOnce: (webhook) => health.attemptsAtOnce(webhook, runtime.now()),
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
