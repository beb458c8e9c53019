import { setTimeout } from 'node:timers/promises';
import { aborted } from '@ticketing/runtime/wakeful-loop.ts';
import { type Bus, type Delivery, type IncomingMessage, type RunningSubscription, retryDelayMs } from '../bus/bus.ts';
import { partitionName } from '../bus/partition.ts';
import { type HandlerOptions, isPassing, messageHandler } from './message-handler.ts';

/** What a group of consumers does with the events of its topics. */
export interface ConsumerOptions extends HandlerOptions {
  bus: Bus;
  topics: readonly string[];
  /** After how long without progress, while messages wait, the subscription is made anew. */
  stuckAfterMs?: number;
  checkEveryMs?: number;
}

/** A consumer at work. */
export interface Consumer {
  readonly group: string;
  state(): ConsumerState;
  /** Resolves when nothing is being handled any more. */
  stop(): Promise<void>;
}

/** How far a consumer is behind, in the partitions that fell to it. */
export interface ConsumerState {
  lagMessages: number;
  /** Since when the oldest event waits, as far as this process knows. */
  lagSeconds: number;
  restarts: number;
}

const maxEvents = 100;
const quietFailures = 5;
const stopPatienceMs = 5_000;
const forgetMs = 60_000;

/** Messages of a partition that are being handled or come again. Units: Unix ms. */
interface Waiting {
  /** When the oldest was sent. */
  since: number;
  failedAt: number | undefined;
}

/**
 * Takes part in a group, and handles what comes, each key in its order, at least once.
 *
 * An event that can not be handled is parked with those of its key that follow it; others are not held up. A consumer that
 * makes no progress while messages wait is started again (guarantees.md section 1, E6 and E10).
 */
export function startConsumer(options: ConsumerOptions): Consumer {
  const { bus, group, topics, log, stuckAfterMs = 60_000, checkEveryMs = 5_000 } = options;
  const stopping = new AbortController();
  const waiting = new Map<string, Waiting>();
  let running: RunningSubscription | undefined;
  let lagMessages = 0;
  let restarts = 0;
  let progressedAt = Date.now();
  const handleMessages = messageHandler(options, () => {
    progressedAt = Date.now();
  });

  async function handle(messages: readonly IncomingMessage[], delivery: Delivery): Promise<void> {
    for (let at = 0; at < messages.length && !delivery.signal.aborted; at += maxEvents) {
      const part = messages.slice(at, at + maxEvents);
      const last = part.at(-1);
      if (!last) return;
      const place = partitionName(last.topic, last.partition);
      const since = oldestOf(part);
      waiting.set(place, { since, failedAt: undefined });
      try {
        await handleMessages(part, delivery.signal);
        delivery.acknowledge(last);
        waiting.delete(place);
        progressedAt = Date.now();
      } catch (error) {
        waiting.set(place, { since, failedAt: Date.now() });
        // It is not stuck, only what it needs is away.
        if (isPassing(error)) progressedAt = Date.now();
        throw error;
      }
    }
  }

  async function subscribe(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; failures++) {
      try {
        const subscribed = bus.subscribe({ group, topics, handle, onError: reportPassing });
        // A bus that was never reached would hold up the stop.
        running = (await Promise.race([subscribed, aborted(stopping.signal)])) ?? undefined;
        if (!running) subscribed.then((late) => late.stop()).catch(() => undefined);
        return;
      } catch (error) {
        // While everything starts, topics and store come a moment later.
        log[failures < quietFailures ? 'debug' : 'warn']({ err: error, group }, 'the bus can not be subscribed to yet');
        await pause(retryDelayMs(failures));
      }
    }
  }

  function reportPassing(error: unknown): void {
    log.warn({ err: error, group }, 'events were not handled; they come again');
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(checkEveryMs);
      const lag = running?.lag().catch(() => lagMessages);
      const found = await Promise.race([lag, aborted(stopping.signal)]);
      lagMessages = found ?? 0;
      // One that has not joined its group yet may be stuck in that.
      if (found === 0) progressedAt = Date.now();
      if (stopping.signal.aborted || Date.now() - progressedAt < stuckAfterMs) continue;
      log.error({ group, lagMessages }, 'the consumer is stuck; it is started again');
      restarts += 1;
      progressedAt = Date.now();
      await stopSubscription();
      await subscribe();
    }
  }

  async function stopSubscription(): Promise<void> {
    const stopped = running?.stop().catch((error: unknown) => log.warn({ err: error, group }, 'did not stop in order'));
    running = undefined;
    const tooLate = new AbortController();
    await Promise.race([
      stopped,
      setTimeout(stopPatienceMs, undefined, { signal: tooLate.signal }).catch(() => undefined),
    ]);
    tooLate.abort();
  }

  const pause = (ms: number) => setTimeout(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const ended = Promise.all([subscribe(), watch()]);
  return {
    group,
    state() {
      const now = Date.now();
      // What has failed comes again soon; later it is another's.
      const inHand = [...waiting.values()].filter(
        ({ failedAt }) => failedAt === undefined || failedAt > now - forgetMs,
      );
      const since = inHand.map((one) => one.since);
      const waitingSince = since.length > 0 ? Math.min(...since) : lagMessages > 0 ? progressedAt : now;
      return { lagMessages, lagSeconds: Math.max(0, (now - waitingSince) / 1000), restarts };
    },
    async stop() {
      stopping.abort();
      await ended;
      await running?.stop();
    },
  };
}

function oldestOf(messages: readonly IncomingMessage[]): number {
  const times = messages.map(({ headers }) => Date.parse(headers.ce_time ?? '')).filter((time) => !Number.isNaN(time));
  return times.length === 0 ? Date.now() : Math.min(...times);
}
