import { setTimeout } from 'node:timers/promises';
import { backOffMs } from '@ticketing/runtime/back-off.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { WebhookHealth } from '../rules/health.ts';
import type { WebhookStore } from '../store.ts';
import type { AttemptResult, DeliveryQueue } from './queue-store.ts';

/** The health of an endpoint that an attempt has changed. */
export interface HealthChange {
  webhookId: number;
  epoch: number;
  health: WebhookHealth;
}

/** Records the results of attempts, many at a time. */
export interface ResultRecorder {
  /** Resolves when the result is stored, or when the signal has aborted: then the delivery is made again. */
  record(result: AttemptResult, change?: HealthChange): Promise<void>;
}

/** Options of `resultRecorder`. */
export interface ResultRecorderOptions {
  queue: Pick<DeliveryQueue, 'record'>;
  webhooks: Pick<WebhookStore, 'saveHealth'>;
  log: Logger;
  /** Aborts when the process stops. */
  signal: AbortSignal;
}

interface WaitingResult {
  result: AttemptResult;
  change: HealthChange | undefined;
  resolve(): void;
}

const maxRetryMs = 2_000;

/**
 * Makes a recorder: results that arrive while others are written are written together. While the database is
 * unavailable it tries again, and an attempt whose result is not stored counts as running.
 */
export function resultRecorder({ queue, webhooks, log, signal }: ResultRecorderOptions): ResultRecorder {
  let waiting: WaitingResult[] = [];
  let isRunning = false;

  async function write(batch: readonly WaitingResult[]): Promise<void> {
    // The last health of each endpoint includes the earlier changes.
    const changes = new Map(batch.flatMap(({ change }) => (change ? [[change.webhookId, change]] : [])));
    await Promise.all([
      queue.record(batch.map(({ result }) => result)),
      ...[...changes.values()].map(({ webhookId, epoch, health }) => webhooks.saveHealth(webhookId, epoch, health)),
    ]);
  }

  async function writeUntilStored(batch: readonly WaitingResult[]): Promise<void> {
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        return await write(batch);
      } catch (error) {
        if (failures === 0) log.warn({ err: error }, 'attempts of webhooks cannot be recorded');
        await setTimeout(backOffMs(failures, { firstMs: 100, longestMs: maxRetryMs }), undefined, { signal }).catch(
          () => undefined,
        );
      }
    }
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await writeUntilStored(batch);
      for (const { resolve } of batch) resolve();
    }
    isRunning = false;
  }

  return {
    record: (result, change) =>
      new Promise((resolve) => {
        waiting.push({ result, change, resolve });
        if (!isRunning) void run();
      }),
  };
}
