import { setTimeout } from 'node:timers/promises';
import { onceAMinute } from '@ticketing/runtime/once-a-minute.ts';
import { aborted } from '@ticketing/runtime/wakeful-loop.ts';
import { isTransient } from '@ticketing/store/document/transient-error.ts';
import { type Bus, type Delivery, type IncomingMessage, type RunningSubscription, retryDelayMs } from '../bus/bus.ts';
import type { HandlerOptions } from './event-handler.ts';
import { messageHandler } from './message-handler.ts';

/** The topics that a consumer reads, and how it handles the events. */
export interface ConsumerOptions extends HandlerOptions {
  bus: Bus;
  topics: readonly string[];
  /** A consumer that makes no progress for this long, while messages wait, subscribes again. */
  stuckAfterMs?: number;
  checkEveryMs?: number;
  /** How long to wait for a stuck consumer to stop before it is abandoned. */
  stopTimeoutMs?: number;
}

/** A running consumer. */
export interface Consumer {
  readonly group: string;
  state(): ConsumerState;
  /** Resolves when no event is being handled any more. */
  stop(): Promise<void>;
}

/** The state of a consumer; its lag is that of the partitions that are assigned to it. */
export interface ConsumerState {
  lagMessages: number;
  restarts: number;
}

const maxEvents = 100;
/**
 * The first failures to subscribe are logged at debug level, because they are expected while the whole system starts.
 */
const quietFailures = 5;

/**
 * Joins a consumer group and handles its events, those of one key in their order, each at least once.
 *
 * An event that cannot be handled is dead-lettered and blocks its key; other keys go on. A consumer that makes no
 * progress while messages wait is restarted (docs/reference/guarantees.md, Events, E6 and E10).
 */
export function startConsumer(options: ConsumerOptions): Consumer {
  const { bus, group, topics, log, stuckAfterMs = 60_000, checkEveryMs = 5_000, stopTimeoutMs = 5_000 } = options;
  const stopping = new AbortController();
  const pass = onceAMinute();
  let running: RunningSubscription | undefined;
  let lagMessages = 0;
  let restarts = 0;
  let progressedAt = performance.now();
  const handleMessages = messageHandler(options, () => {
    progressedAt = performance.now();
  });

  async function handle(messages: readonly IncomingMessage[], delivery: Delivery): Promise<void> {
    for (let at = 0; at < messages.length && !delivery.signal.aborted; at += maxEvents) {
      const part = messages.slice(at, at + maxEvents);
      const last = part.at(-1);
      if (!last) return;
      try {
        await handleMessages(part, delivery.signal);
        delivery.acknowledge(last);
        progressedAt = performance.now();
      } catch (error) {
        // The consumer itself works; it waits for something that is unavailable, and a restart would not help.
        if (isTransient(error)) progressedAt = performance.now();
        throw error;
      }
    }
  }

  async function subscribe(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; failures++) {
      try {
        const subscribed = bus.subscribe({ group, topics, handle, onError: logRetry });
        // `stop` must not wait for a bus that was never reached.
        running = (await Promise.race([subscribed, aborted(stopping.signal)])) ?? undefined;
        if (!running) subscribed.then((late) => late.stop()).catch(() => undefined);
        return;
      } catch (error) {
        log[failures < quietFailures ? 'debug' : 'warn']({ err: error, group }, 'cannot subscribe to the bus yet');
        await pause(retryDelayMs(failures));
      }
    }
  }

  function logRetry(error: unknown): void {
    const repeated = pass(error instanceof Error ? `${error.name} ${error.message}` : String(error));
    if (repeated === undefined) return;
    log.warn({ err: error, group, repeated }, 'events could not be handled and will be delivered again');
  }

  async function restartWhenStuck(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(checkEveryMs);
      const lag = running?.lag().catch(() => lagMessages);
      const found = await Promise.race([lag, aborted(stopping.signal)]);
      lagMessages = found ?? 0;
      // An undefined lag is no progress: a consumer can be stuck while it joins its group.
      if (found === 0) progressedAt = performance.now();
      if (stopping.signal.aborted || performance.now() - progressedAt < stuckAfterMs) continue;
      log.error({ group, lagMessages }, 'the consumer is stuck and is restarted');
      restarts += 1;
      progressedAt = performance.now();
      await stopSubscription();
      await subscribe();
    }
  }

  async function stopSubscription(): Promise<void> {
    const stopped = running
      ?.stop()
      .catch((error: unknown) => log.warn({ err: error, group }, 'the stuck consumer failed to stop'));
    running = undefined;
    const hasStopped = new AbortController();
    await Promise.race([
      stopped,
      setTimeout(stopTimeoutMs, undefined, { signal: hasStopped.signal }).catch(() => undefined),
    ]);
    hasStopped.abort();
  }

  const pause = (ms: number) => setTimeout(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const ended = Promise.all([subscribe(), restartWhenStuck()]);
  return {
    group,
    state: () => ({ lagMessages, restarts }),
    async stop() {
      stopping.abort();
      await ended;
      await running?.stop();
    },
  };
}
