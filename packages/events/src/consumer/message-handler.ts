import { Code, ConnectError } from '@connectrpc/connect';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { translateUpstreamErrors } from '@ticketing/errors/translate-error.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { continueTrace, type Trace } from '@ticketing/runtime/trace.ts';
import { isUnreachable } from '@ticketing/store/database.ts';
import { LRUCache } from 'lru-cache';
import type { IncomingMessage } from '../bus/bus.ts';
import { type ReceivedEvent, receivedEvent } from '../bus/envelope.ts';
import { partitionName } from '../bus/partition.ts';
import type { DeadLetters } from '../dead-letters/dead-letters.ts';

/** How the events of a group are handled. */
export interface HandlerOptions {
  group: string;
  handle: HandleEvents;
  deadLetters: DeadLetters;
  log: Logger;
  /** How long one call of `handle` may take. It must be shorter than a session of the bus, 20 s. */
  handlerTimeoutMs?: number;
}

/**
 * Handles events of one topic: of many keys, those of a key in their order. Whatever it does, it may do again.
 *
 * Errors: one that says that something is away lets all of them come again; any other, time-outs too, parks the key if
 * it is the key's alone.
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

const maxFailures = 3;
/** How many keys of one delivery may be late, each for as long as a handler may take. */
const maxLateKeys = 2;
const behind = 'an earlier event of the same key is parked';

/** What has become of the messages of one delivery. */
interface Progress {
  signal: AbortSignal;
  handledKeys: number;
  lateKeys: number;
  /** Why messages have to come again. */
  open: unknown[];
}

/**
 * Makes what handles a few messages of a partition, so that afterwards each is handled or parked (guarantees.md section 1,
 * E6; docs/decisions/0019). `onHandled` is called whenever some have been handled.
 *
 * Errors: what a handler failed with that may pass; all messages have to come again.
 */
export function messageHandler(
  options: HandlerOptions,
  onHandled: () => void = () => undefined,
): (messages: readonly IncomingMessage[], signal: AbortSignal) => Promise<void> {
  const { deadLetters, group, log } = options;
  // Bounded: messages that failed and then went to another member are forgotten some time.
  const failures = new LRUCache<string, number>({ max: 10_000 });
  const lateness = new LRUCache<string, number>({ max: 10_000 });

  async function handleAll(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<void> {
    const topic = messages[0]?.topic ?? '';
    const parkedKeys = await deadLetters.keys(group, topic, [...new Set(messages.map(({ key }) => key))]);
    const {
      free = [],
      suspected = [],
      held = [],
    } = Object.groupBy(byKey(messages), (ofKey) => {
      if (parkedKeys.has(ofKey[0]?.key ?? '')) return 'held';
      return ofKey.some((message) => lateness.has(placeOf(message))) ? 'suspected' : 'free';
    });
    const progress: Progress = { signal, handledKeys: 0, lateKeys: 0, open: [] };
    await attemptTogether(free, progress);
    await attemptEach(suspected, progress);
    for (const ofKey of held) await parkBehind(ofKey, signal);
    if (progress.open.length > 0) throw progress.open[0];
  }

  /** What fails may be something that passes, or an event that can not be handled: the third time says so. */
  async function attemptTogether(keys: readonly IncomingMessage[][], progress: Progress): Promise<void> {
    if (keys.length === 0) return;
    const messages = keys.flat();
    const error = await failureOf(messages, progress.signal);
    if (error === undefined) {
      progress.handledKeys += keys.length;
    } else if (isLate(error) || Math.max(...messages.map(countFailure)) >= maxFailures) {
      await attemptEach(keys, progress);
    } else {
      progress.open.push(error);
    }
  }

  /** Handles key by key; those that have been late most come last. */
  async function attemptEach(keys: readonly IncomingMessage[][], progress: Progress): Promise<void> {
    const timesLate = (ofKey: IncomingMessage[]) =>
      Math.max(...ofKey.map((message) => lateness.get(placeOf(message)) ?? -1));
    for (const ofKey of keys.toSorted((first, second) => timesLate(first) - timesLate(second))) {
      if (progress.lateKeys >= maxLateKeys) progress.open.push(new HandlerTimeout('too many events take too long'));
      else await attemptKey(ofKey, progress);
    }
  }

  /** Handles the messages of a key one by one, and parks from the first that can not be handled. */
  async function attemptKey(messages: readonly IncomingMessage[], progress: Progress): Promise<void> {
    for (const [index, message] of messages.entries()) {
      const error = await failureOf([message], progress.signal);
      if (error === undefined) continue;
      const isItsOwn = isLate(error) ? isLateAlone(message, progress) : countFailure(message) >= maxFailures;
      if (isItsOwn) await park(message, messages.slice(index + 1), error);
      else progress.open.push(error);
      return;
    }
    progress.handledKeys += 1;
  }

  async function park(message: IncomingMessage, followers: readonly IncomingMessage[], error: unknown): Promise<void> {
    log.error({ err: error, group, key: message.key, topic: message.topic }, 'an event is parked');
    await deadLetters.add(group, [message], error instanceof Error ? error.message : String(error));
    if (followers.length > 0) await deadLetters.add(group, followers, behind);
    for (const one of [message, ...followers]) forget(one);
  }

  /**
   * Whether it is this message that takes too long: for the third time, while other keys of its delivery were handled. If
   * none was, then what the handler needs hangs, and nothing is said about the message.
   */
  function isLateAlone(message: IncomingMessage, progress: Progress): boolean {
    progress.lateKeys += 1;
    const times = (lateness.get(placeOf(message)) ?? 0) + (progress.handledKeys > 0 ? 1 : 0);
    lateness.set(placeOf(message), times);
    return times >= maxFailures;
  }

  function countFailure(message: IncomingMessage): number {
    const count = (failures.get(placeOf(message)) ?? 0) + 1;
    failures.set(placeOf(message), count);
    return count;
  }

  /** Answers what the handler fails with. Errors: one that says that something is away. */
  async function failureOf(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<unknown> {
    try {
      await handleInTime(options, messages, signal);
    } catch (error) {
      if (signal.aborted || isPassing(error)) throw error;
      return error;
    }
    for (const message of messages) forget(message);
    onHandled();
    return undefined;
  }

  function forget(message: IncomingMessage): void {
    failures.delete(placeOf(message));
    lateness.delete(placeOf(message));
  }

  /** Parks messages behind those of their key; if those have just been replayed, nobody else would look at them. */
  async function parkBehind(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<void> {
    await deadLetters.add(group, messages, behind);
    const [first] = messages;
    if (!first) return;
    const oldest = await deadLetters.next(group, first.topic, first.key);
    // One with a reason of its own comes again because its place was not kept when it was parked.
    if (!oldest || oldest.reason !== behind || Number(oldest.offset) < Number(first.offset)) return;
    try {
      await replayKey(options, first.topic, first.key, signal);
    } catch (error) {
      // It stays parked.
      if (signal.aborted || isPassing(error)) throw error;
    }
  }

  return handleAll;
}

/**
 * Handles the parked messages of a key, the oldest first, until none is left.
 *
 * Errors: that of the first that can not be handled; it stays parked.
 */
export async function replayKey(
  options: HandlerOptions,
  topic: string,
  key: string,
  signal: AbortSignal,
): Promise<number> {
  const { deadLetters, group } = options;
  let count = 0;
  for (let next = await deadLetters.next(group, topic, key); next; next = await deadLetters.next(group, topic, key)) {
    await handleInTime(options, [next], signal);
    await deadLetters.remove(next.id);
    count += 1;
  }
  return count;
}

async function handleInTime(
  { group, handle, log, handlerTimeoutMs = 15_000 }: HandlerOptions,
  messages: readonly IncomingMessage[],
  given: AbortSignal,
): Promise<void> {
  const events = messages.map(receivedEvent);
  const late = new AbortController();
  const signal = AbortSignal.any([given, late.signal]);
  const trace = continueTrace(events[0]?.traceparent);
  const timer = globalThis.setTimeout(() => late.abort(), handlerTimeoutMs);
  try {
    const context = { trace, log: log.child({ traceId: trace.traceId, group }), signal };
    const work = translateUpstreamErrors(() => handle(events, context));
    await Promise.race([work, rejectOnAbort(late.signal)]);
  } finally {
    clearTimeout(timer);
  }
  for (const { id, type, key, traceparent } of events) {
    log.debug({ group, eventId: id, type, key, traceId: continueTrace(traceparent).traceId }, 'event handled');
  }
}

function byKey(messages: readonly IncomingMessage[]): IncomingMessage[][] {
  return [...Map.groupBy(messages, ({ key }) => key).values()];
}

function placeOf({ topic, partition, offset }: IncomingMessage): string {
  return `${partitionName(topic, partition)}/${offset}`;
}

class HandlerTimeout extends Error {
  override readonly name = 'HandlerTimeout';
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new HandlerTimeout('the handler took too long')), { once: true });
  });
}

function isLate(error: unknown): boolean {
  return error instanceof HandlerTimeout || (error instanceof DomainError && error.code === 'deadline_exceeded');
}

/** Whether something that a handler needs is away, so that it is no fault of the event. */
export function isPassing(error: unknown): boolean {
  if (isUnreachable(error)) return true;
  if (!(error instanceof DomainError)) return false;
  // A service that does not believe this one would refuse every event.
  const { cause } = error;
  if (cause instanceof ConnectError && [Code.Unauthenticated, Code.PermissionDenied].includes(cause.code)) return true;
  return ['unavailable', 'canceled'].includes(error.code);
}
