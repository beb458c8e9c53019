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

/** The state of a consumer. Its lag counts only the partitions that are assigned to it. */
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
  return new GroupConsumer(options);
}

/** A member of a consumer group. It is subscribing, subscribed, restarting or stopping. */
class GroupConsumer implements Consumer {
  readonly group: string;
  readonly #options: Required<Pick<ConsumerOptions, 'stuckAfterMs' | 'checkEveryMs' | 'stopTimeoutMs'>> &
    Pick<ConsumerOptions, 'bus' | 'topics' | 'log'>;
  readonly #handleMessages: ReturnType<typeof messageHandler>;
  readonly #stopping = new AbortController();
  readonly #passRepeated = onceAMinute();
  readonly #ended: Promise<unknown>;
  /** Undefined until the consumer has subscribed. */
  #subscription: RunningSubscription | undefined;
  #lagMessages = 0;
  #restarts = 0;
  #progressedAt = performance.now();

  constructor(options: ConsumerOptions) {
    this.group = options.group;
    this.#options = { stuckAfterMs: 60_000, checkEveryMs: 5_000, stopTimeoutMs: 5_000, ...options };
    this.#handleMessages = messageHandler(options, () => this.#noteProgress());
    this.#ended = Promise.all([this.#subscribe(), this.#restartWhenStuck()]);
  }

  state(): ConsumerState {
    return { lagMessages: this.#lagMessages, restarts: this.#restarts };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
    await this.#subscription?.stop();
  }

  #noteProgress(): void {
    this.#progressedAt = performance.now();
  }

  async #handle(messages: readonly IncomingMessage[], delivery: Delivery): Promise<void> {
    for (let at = 0; at < messages.length && !delivery.signal.aborted; at += maxEvents) {
      const part = messages.slice(at, at + maxEvents);
      const last = part.at(-1);
      if (!last) return;
      try {
        await this.#handleMessages(part, delivery.signal);
        delivery.acknowledge(last);
        this.#noteProgress();
      } catch (error) {
        // The consumer itself works; it waits for something that is unavailable, and a restart would not help.
        if (isTransient(error)) this.#noteProgress();
        throw error;
      }
    }
  }

  async #subscribe(): Promise<void> {
    const { bus, topics, log } = this.#options;
    const { group } = this;
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const subscribing = bus.subscribe({
          group,
          topics,
          handle: (messages, delivery) => this.#handle(messages, delivery),
          onError: (error) => this.#logRetry(error),
        });
        // `stop` must not wait for a bus that was never reached.
        this.#subscription = (await Promise.race([subscribing, aborted(signal)])) ?? undefined;
        if (!this.#subscription) subscribing.then((late) => late.stop()).catch(() => undefined);
        return;
      } catch (error) {
        log[failures < quietFailures ? 'debug' : 'warn']({ err: error, group }, 'cannot subscribe to the bus yet');
        await this.#pause(retryDelayMs(failures));
      }
    }
  }

  #logRetry(error: unknown): void {
    const repeated = this.#passRepeated(error instanceof Error ? `${error.name} ${error.message}` : String(error));
    if (repeated === undefined) return;
    const { group } = this;
    this.#options.log.warn({ err: error, group, repeated }, 'events could not be handled and will be delivered again');
  }

  async #restartWhenStuck(): Promise<void> {
    const { checkEveryMs, stuckAfterMs, log } = this.#options;
    while (!this.#stopping.signal.aborted) {
      await this.#pause(checkEveryMs);
      const lag = await this.#readLag();
      this.#lagMessages = lag ?? 0;
      // An undefined lag is no progress: a consumer can be stuck while it joins its group.
      if (lag === 0) this.#noteProgress();
      if (this.#stopping.signal.aborted || performance.now() - this.#progressedAt < stuckAfterMs) continue;
      log.error({ group: this.group, lagMessages: this.#lagMessages }, 'the consumer is stuck and is restarted');
      this.#restarts += 1;
      this.#noteProgress();
      await this.#stopSubscription();
      await this.#subscribe();
    }
  }

  /** Reads the lag. Returns undefined during a subscription or a stop, and the last lag if the read fails. */
  async #readLag(): Promise<number | undefined> {
    const lag = this.#subscription?.lag().catch(() => this.#lagMessages);
    return (await Promise.race([lag, aborted(this.#stopping.signal)])) ?? undefined;
  }

  async #stopSubscription(): Promise<void> {
    const { log, stopTimeoutMs } = this.#options;
    const stopped = this.#subscription
      ?.stop()
      .catch((error: unknown) => log.warn({ err: error, group: this.group }, 'the stuck consumer failed to stop'));
    this.#subscription = undefined;
    const hasStopped = new AbortController();
    await Promise.race([
      stopped,
      setTimeout(stopTimeoutMs, undefined, { signal: hasStopped.signal }).catch(() => undefined),
    ]);
    hasStopped.abort();
  }

  async #pause(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}
