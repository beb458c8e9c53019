import { setTimeout } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { DomainError } from '@ticketing/rest/domain-error.ts';
import { servedBy } from '@ticketing/rest/problem.ts';
import type { Logger } from '@ticketing/service-kit/logger.ts';
import { continueTrace, type Trace } from '@ticketing/service-kit/trace.ts';
import { aborted } from '@ticketing/service-kit/wakeful-loop.ts';
import { isAway } from '@ticketing/store/database.ts';
import { LRUCache } from 'lru-cache';
import { type Bus, type Delivery, type IncomingMessage, type RunningSubscription, retryDelayMs } from './bus.ts';
import { type ReceivedEvent, receivedEvent } from './envelope.ts';
import type { Parking } from './parking.ts';

/** What a group of consumers does with the events of its topics. */
export interface ConsumerOptions {
  bus: Bus;
  parking: Parking;
  group: string;
  topics: readonly string[];
  handle: HandleEvents;
  log: Logger;
  /** How long one call of `handle` may take. It must be shorter than a session of the bus, 30 s. */
  handlerTimeoutMs?: number;
  /** After how long without an acknowledgement, while messages wait, the subscription is made anew. */
  stuckAfterMs?: number;
  checkEveryMs?: number;
}

/**
 * Handles events of one topic: of many keys, those of a key in their order. Whatever it does, it may do again.
 *
 * Errors: one that says that something is away or late lets all of them come again; any other parks the key.
 */
export type HandleEvents = (events: readonly ReceivedEvent[], context: HandlerContext) => Promise<void>;

/** What a handler knows beside the events. */
export interface HandlerContext {
  /** The trace of the request that caused the first event. */
  trace: Trace;
  log: Logger;
  /** Aborted when the time of the handler is over, or the events go to another. */
  signal: AbortSignal;
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
const maxFailures = 3;
const quietFailures = 5;
const stopPatienceMs = 5_000;

/**
 * Takes part in a group, and handles what comes, each key in its order, at least once.
 *
 * An event that can not be handled is parked with those of its key that follow it; others are not held up. A consumer that
 * makes no progress while messages wait is started again (guarantees.md section 1, E6 and E10).
 */
export function startConsumer(options: ConsumerOptions): Consumer {
  const { bus, group, topics, log, stuckAfterMs = 60_000, checkEveryMs = 5_000 } = options;
  const stopping = new AbortController();
  const inHand = new Map<object, number>();
  let running: RunningSubscription | undefined;
  let lagMessages = 0;
  let restarts = 0;
  let progressedAt = Date.now();
  const handleMessages = messageHandler(options);

  async function handle(messages: readonly IncomingMessage[], delivery: Delivery): Promise<void> {
    const hand = {};
    try {
      for (let at = 0; at < messages.length && !delivery.signal.aborted; at += maxEvents) {
        const part = messages.slice(at, at + maxEvents);
        const last = part.at(-1);
        if (!last) return;
        inHand.set(hand, oldestOf(part));
        await handleMessages(part, delivery.signal);
        delivery.acknowledge(last);
        progressedAt = Date.now();
      }
    } catch (error) {
      // It is not stuck, only what it needs is away.
      if (isPassing(error)) progressedAt = Date.now();
      throw error;
    } finally {
      inHand.delete(hand);
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
      const waitingSince = inHand.size > 0 ? Math.min(...inHand.values()) : lagMessages > 0 ? progressedAt : now;
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

/** Makes what handles a few messages of a partition, so that afterwards each is handled or parked. */
export function messageHandler(
  options: Pick<ConsumerOptions, 'parking' | 'group' | 'handle' | 'log' | 'handlerTimeoutMs'>,
): (messages: readonly IncomingMessage[], signal: AbortSignal) => Promise<void> {
  const { parking, group, log } = options;
  // Bounded: messages that failed and then went to another member are forgotten some time.
  const failures = new LRUCache<string, number>({ max: 10_000 });

  async function handleAll(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<void> {
    const topic = messages[0]?.topic ?? '';
    const parkedKeys = await parking.keys(group, topic, [...new Set(messages.map(({ key }) => key))]);
    const free = messages.filter(({ key }) => !parkedKeys.has(key));
    await attempt(free, signal);
    const held = messages.filter(({ key }) => parkedKeys.has(key));
    for (const [key, ofKey] of Map.groupBy(held, (message) => message.key)) await parkBehind(key, ofKey, signal);
  }

  /** Parks messages behind those of their key; if those have just been replayed, nobody else would look at them. */
  async function parkBehind(key: string, messages: readonly IncomingMessage[], signal: AbortSignal): Promise<void> {
    await parking.add(group, messages, 'an earlier event of the same key is parked');
    const [first] = messages;
    if (!first) return;
    const oldest = await parking.next(group, first.topic, key);
    if (!oldest || Number(oldest.offset) < Number(first.offset)) return;
    try {
      await replayKey(options, first.topic, key, signal);
    } catch (error) {
      // It is parked, and stays so: it comes again because its place was not kept when it was parked.
      if (signal.aborted || isPassing(error)) throw error;
    }
  }

  async function attempt(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<void> {
    if (messages.length === 0) return;
    try {
      await handleInTime(options, messages, signal);
      for (const message of messages) failures.delete(placeOf(message));
    } catch (error) {
      if (signal.aborted || isPassing(error) || !isPoisonous(messages)) throw error;
      await narrow(messages, error, signal);
    }
  }

  /** Finds the message that can not be handled: key by key, and then one by one. */
  async function narrow(messages: readonly IncomingMessage[], error: unknown, signal: AbortSignal): Promise<void> {
    const byKey = [...Map.groupBy(messages, ({ key }) => key).values()];
    if (byKey.length > 1) {
      for (const ofKey of byKey) await attempt(ofKey, signal);
      return;
    }
    for (const [index, message] of messages.entries()) {
      const reason = messages.length === 1 ? error : await failureOf(message, signal);
      if (reason === undefined) continue;
      const text = reason instanceof Error ? reason.message : String(reason);
      log.error({ err: reason, group, key: message.key, topic: message.topic }, 'an event is parked');
      await parking.add(group, [message], text);
      for (const one of messages) failures.delete(placeOf(one));
      const followers = messages.slice(index + 1);
      if (followers.length > 0) await parking.add(group, followers, 'an earlier event of the same key is parked');
      return;
    }
  }

  async function failureOf(message: IncomingMessage, signal: AbortSignal): Promise<unknown> {
    try {
      await handleInTime(options, [message], signal);
      return undefined;
    } catch (error) {
      if (signal.aborted || isPassing(error)) throw error;
      return error;
    }
  }

  /** What fails may be something that passes, or an event that can not be handled: the third time says so. */
  function isPoisonous(messages: readonly IncomingMessage[]): boolean {
    let most = 0;
    for (const message of messages) {
      const count = (failures.get(placeOf(message)) ?? 0) + 1;
      failures.set(placeOf(message), count);
      most = Math.max(most, count);
    }
    return most >= maxFailures;
  }

  return handleAll;
}

/**
 * Handles the parked messages of a key, the oldest first, until none is left.
 *
 * Errors: that of the first that can not be handled; it stays parked.
 */
export async function replayKey(
  options: Pick<ConsumerOptions, 'parking' | 'group' | 'handle' | 'log' | 'handlerTimeoutMs'>,
  topic: string,
  key: string,
  signal: AbortSignal,
): Promise<number> {
  const { parking, group } = options;
  let count = 0;
  for (let next = await parking.next(group, topic, key); next; next = await parking.next(group, topic, key)) {
    await handleInTime(options, [next], signal);
    await parking.remove(next.id);
    count += 1;
  }
  return count;
}

async function handleInTime(
  options: Pick<ConsumerOptions, 'group' | 'handle' | 'log' | 'handlerTimeoutMs'>,
  messages: readonly IncomingMessage[],
  given: AbortSignal,
): Promise<void> {
  const { group, handle, log, handlerTimeoutMs = 20_000 } = options;
  const events = messages.map(receivedEvent);
  const late = new AbortController();
  const signal = AbortSignal.any([given, late.signal]);
  const trace = continueTrace(events[0]?.traceparent);
  const timer = globalThis.setTimeout(() => late.abort(), handlerTimeoutMs);
  try {
    const context = { trace, log: log.child({ traceId: trace.traceId, group }), signal };
    const work = servedBy(() => handle(events, context));
    await Promise.race([work, rejectOnAbort(late.signal)]);
  } finally {
    clearTimeout(timer);
  }
  for (const { id, type, key, traceparent } of events) {
    log.debug({ group, eventId: id, type, key, traceId: continueTrace(traceparent).traceId }, 'event handled');
  }
}

function placeOf({ topic, partition, offset }: IncomingMessage): string {
  return `${topic}/${partition}/${offset}`;
}

class HandlerTimeout extends Error {
  override readonly name = 'HandlerTimeout';
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new HandlerTimeout('the handler took too long')), { once: true });
  });
}

/** Whether something that a handler needs is away, so that it is no fault of the event. */
function isPassing(error: unknown): boolean {
  if (isAway(error)) return true;
  if (!(error instanceof DomainError)) return false;
  // A service that does not believe this one would refuse every event.
  const { cause } = error;
  if (cause instanceof ConnectError && [Code.Unauthenticated, Code.PermissionDenied].includes(cause.code)) return true;
  return ['unavailable', 'deadline_exceeded', 'canceled'].includes(error.code);
}
