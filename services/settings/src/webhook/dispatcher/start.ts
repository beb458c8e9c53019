import { WebhookStatus } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { backOffMs } from '@ticketing/runtime/back-off.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Runtime } from '@ticketing/runtime/runtime.ts';
import { aborted, startWakefulLoop, type WakefulLoop, type WorkFound } from '@ticketing/runtime/wakeful-loop.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import type { Leased } from '@ticketing/store/leases/lease.ts';
import { joinLeaseGroup, type LeaseGroupTimes } from '@ticketing/store/leases/lease-group.ts';
import type { WebhookState } from '../rules/endpoint.ts';
import type { WebhookStore } from '../store.ts';
import type { EndpointCache } from './endpoint-cache.ts';
import { type EndpointWorker, type SendDelivery, startEndpointWorker, type WorkerParts } from './endpoint-worker.ts';
import type { DeliveryQueue } from './queue-store.ts';
import { resultRecorder } from './result-recorder.ts';
import { type SettlingParts, settleAttempt } from './settle-attempt.ts';
import { wakeTimer } from './wake-timer.ts';

/** The dependencies of a dispatcher. */
export interface DispatcherParts {
  database: Pick<Database, 'connection' | 'opened'>;
  endpoints: EndpointCache;
  queue: DeliveryQueue;
  webhooks: WebhookStore;
  runtime: Runtime;
  log: Logger;
  send: SendDelivery;
  /** Counts an attempt, by its outcome. */
  count(outcome: string): void;
}

/** A running dispatcher. */
export interface RunningDispatcher extends WakefulLoop {
  /** Wakes it after a change of endpoints by its process; it finds changes by other processes when it polls. */
  wakeForEndpoints(): void;
}

const leaseCount = 16;
/** Changes by another process take effect in less than a second: these times plus the age of the cached endpoints. */
const pollMs = { busy: 250, idle: 500 };
/** How long a system that has no endpoints is not asked for them again. */
const withoutEndpointsMs = 2_000;
const graceMs = 3_000;
const maxRetryMs = 2_000;

/**
 * Makes the deliveries of webhooks. The dispatchers of all processes share the endpoints; the owner of an endpoint
 * attempts its deliveries, one after the other for each ticket. A dispatcher whose lease expires during an attempt can
 * only cause duplicates: it and the next owner both continue with the first delivery that has not ended.
 *
 * Source: docs/reference/api.md, Delivery; docs/reference/guarantees.md, Webhooks.
 */
export function startDispatcher(parts: DispatcherParts, leaseTimes?: LeaseGroupTimes): RunningDispatcher {
  const { database, endpoints, queue, webhooks, runtime, log, send, count } = parts;
  const owned = new Set<number>();
  const workers = new Map<number, EndpointWorker>();
  let readAgainAt = Number.NEGATIVE_INFINITY;
  const stopping = new AbortController();
  const recorder = resultRecorder({ queue, webhooks, log, signal: stopping.signal });
  const timer = wakeTimer(runtime.now, () => loop.wake());
  const { wakeAt } = timer;
  const settling: SettlingParts = { endpoints, queue, webhooks, recorder, runtime, log, count, wakeAt };
  const settle: WorkerParts['settle'] = (health, attempt) => settleAttempt(settling, health, attempt);
  const shared: WorkerParts = { endpoints, queue, runtime, log, send, settle, wakeAt };
  const isOwned = (id: number) => owned.has(id % leaseCount);

  const member = joinLeaseGroup<Leased>(database, {
    collection: 'dispatcherLeases',
    group: 'dispatcher',
    parts: Array.from({ length: leaseCount }, (_, part) => String(part)),
    initial: {},
    async work(part, _document, signal) {
      owned.add(Number(part));
      loop.wake();
      await aborted(signal);
      owned.delete(Number(part));
      const ids = [...workers.keys()].filter((id) => id % leaseCount === Number(part));
      await Promise.all(ids.map((id) => stopWorker(id, graceMs)));
    },
    onError: (error) => log.warn({ err: error }, 'the leases of the dispatcher cannot be renewed'),
    times: leaseTimes,
  });

  async function stopWorker(id: number, waitMs: number): Promise<void> {
    const worker = workers.get(id);
    workers.delete(id);
    await worker?.stop(waitMs);
  }

  function openWorker(id: number): EndpointWorker {
    const worker = workers.get(id) ?? startEndpointWorker(shared, id);
    workers.set(id, worker);
    return worker;
  }

  /** Whether deliveries to an endpoint would be attempted now, or have to be ended. */
  function needsWork(webhook: WebhookState): boolean {
    if (!isOwned(webhook.id) || webhook.status === WebhookStatus.PAUSED) return false;
    if (webhook.status === WebhookStatus.DISABLED) return true;
    const worker = openWorker(webhook.id);
    return worker.attemptsAtOnce(webhook) > 0 && worker.wantsMore();
  }

  /** Wakes the workers of the endpoints that have deliveries which are due. */
  async function dispatch(): Promise<WorkFound> {
    if (owned.size === 0 || performance.now() < readAgainAt) return 'nothing';
    const all = await endpoints.read();
    if (all.size === 0) readAgainAt = performance.now() + withoutEndpointsMs;
    const deleted = [...workers.keys()].filter((id) => !all.has(id));
    await Promise.all(deleted.map((id) => stopWorker(id, 0)));
    const needing = [...all.values()].filter(needsWork);
    if (needing.length === 0) return 'nothing';
    const attempted = [...workers.values()].flatMap((worker) => worker.attempted());
    const ids = needing.map(({ id }) => id);
    const withDue = new Set(await queue.withDue(ids, runtime.now(), attempted));
    for (const { id, status } of needing) {
      if (!withDue.has(id) || !isOwned(id)) continue;
      // Ends deliveries that were added while the endpoint was being disabled.
      if (status === WebhookStatus.DISABLED) await queue.exhaust(id, runtime.now());
      else openWorker(id).wake();
    }
    return withDue.size > 0 ? 'done' : 'nothing';
  }

  const loop = startWakefulLoop({
    pollMs,
    run: dispatch,
    after: database.opened,
    onError(error, failures) {
      if (failures === 0) log.warn({ err: error }, 'deliveries of webhooks cannot be read');
      return backOffMs(failures, { firstMs: 100, longestMs: maxRetryMs });
    },
  });

  function wake(): void {
    readAgainAt = Number.NEGATIVE_INFINITY;
    loop.wake();
  }

  return {
    wake,
    wakeForEndpoints() {
      endpoints.invalidate();
      wake();
    },
    async stop() {
      timer.stop();
      await loop.stop();
      // The results of the attempts that are being made are still recorded, if the database is available.
      const giveUp = setTimeout(() => stopping.abort(), 2 * graceMs);
      await member.stop();
      clearTimeout(giveUp);
    },
  };
}
