import { Code, ConnectError } from '@connectrpc/connect';
import { DomainError } from '@ticketing/rest/domain-error.ts';
import { servedBy } from '@ticketing/rest/problem.ts';
import type { Logger } from '@ticketing/service-kit/logger.ts';
import { continueTrace, type Trace } from '@ticketing/service-kit/trace.ts';
import { isAway } from '@ticketing/store/database.ts';
import { LRUCache } from 'lru-cache';
import type { IncomingMessage } from './bus.ts';
import { type ReceivedEvent, receivedEvent } from './envelope.ts';
import type { Parking } from './parking.ts';

/** How the events of a group are handled. */
export interface HandlerOptions {
  group: string;
  handle: HandleEvents;
  parking: Parking;
  log: Logger;
  /** How long one call of `handle` may take. It must be shorter than a session of the bus, 30 s. */
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
/** How many keys of one delivery may be late: each takes as long as a handler may. */
const maxLateKeys = 2;
const behind = 'an earlier event of the same key is parked';

/**
 * Makes what handles a few messages of a partition, so that afterwards each is handled or parked (guarantees.md section 1,
 * E6). `onAttempt` is called whenever the handler has ended, or has not in its time.
 *
 * Errors: what a handler failed with that may pass; all messages have to come again.
 */
export function messageHandler(
  options: HandlerOptions,
  onAttempt: () => void = () => undefined,
): (messages: readonly IncomingMessage[], signal: AbortSignal) => Promise<void> {
  const { parking, group, log } = options;
  // Bounded: messages that failed and then went to another member are forgotten some time.
  const failures = new LRUCache<string, number>({ max: 10_000 });
  const lateness = new LRUCache<string, { times: number; handledBefore: number }>({ max: 10_000 });
  let handledCount = 0;

  async function handleAll(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<void> {
    const topic = messages[0]?.topic ?? '';
    const parkedKeys = await parking.keys(group, topic, [...new Set(messages.map(({ key }) => key))]);
    const {
      free = [],
      suspected = [],
      held = [],
    } = Object.groupBy(byKey(messages), (ofKey) => {
      if (parkedKeys.has(ofKey[0]?.key ?? '')) return 'held';
      return ofKey.some((message) => lateness.has(placeOf(message))) ? 'suspected' : 'free';
    });
    await attemptAll(free.flat(), signal);
    await attemptEach(suspected, signal);
    for (const ofKey of held) await parkBehind(ofKey, signal);
  }

  /** What fails may be something that passes, or an event that can not be handled: the third time says so. */
  async function attemptAll(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<void> {
    if (messages.length === 0) return;
    const error = await failureOf(messages, signal);
    if (error === undefined) return;
    const counts = messages.map((message) => (failures.get(placeOf(message)) ?? 0) + 1);
    messages.forEach((message, index) => void failures.set(placeOf(message), counts[index] ?? 1));
    if (Math.max(...counts) < maxFailures) throw error;
    await attemptEach(byKey(messages), signal);
  }

  /** Handles key by key; those that have been late before come last. */
  async function attemptEach(keys: readonly IncomingMessage[][], signal: AbortSignal): Promise<void> {
    const timesLate = (ofKey: IncomingMessage[]) =>
      Math.max(...ofKey.map((message) => lateness.get(placeOf(message))?.times ?? 0));
    const late: unknown[] = [];
    for (const ofKey of keys.toSorted((first, second) => timesLate(first) - timesLate(second))) {
      const error = await attemptKey(ofKey, signal);
      if (error !== undefined) late.push(error);
      if (late.length === maxLateKeys) break;
    }
    if (late.length > 0) throw late[0];
  }

  /** Handles the messages of a key, and parks from the first that can not be handled; answers what it is late with. */
  async function attemptKey(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<unknown> {
    const error = await failureOf(messages, signal);
    if (error === undefined) return undefined;
    for (const [index, message] of messages.entries()) {
      const reason = messages.length === 1 ? error : await failureOf([message], signal);
      if (reason === undefined) continue;
      if (isLate(reason) && !isLateAlone(message)) return reason;
      log.error({ err: reason, group, key: message.key, topic: message.topic }, 'an event is parked');
      await parking.add(group, [message], reason instanceof Error ? reason.message : String(reason));
      const followers = messages.slice(index + 1);
      if (followers.length > 0) await parking.add(group, followers, behind);
      for (const one of messages) forget(one);
      return undefined;
    }
    return undefined;
  }

  /**
   * Whether it is this message that takes too long: again and again, while others are handled. If none is, then what
   * the handler needs hangs, and nothing is said about the message.
   */
  function isLateAlone(message: IncomingMessage): boolean {
    const known = lateness.get(placeOf(message));
    if (known?.handledBefore === handledCount) return false;
    const times = (known?.times ?? 0) + 1;
    lateness.set(placeOf(message), { times, handledBefore: handledCount });
    return times >= maxFailures;
  }

  /** Answers what the handler fails with. Errors: what passes. */
  async function failureOf(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<unknown> {
    try {
      await handleInTime(options, messages, signal);
      handledCount += 1;
      for (const message of messages) forget(message);
      return undefined;
    } catch (error) {
      if (signal.aborted || isPassing(error)) throw error;
      return error;
    } finally {
      onAttempt();
    }
  }

  function forget(message: IncomingMessage): void {
    failures.delete(placeOf(message));
    lateness.delete(placeOf(message));
  }

  /** Parks messages behind those of their key; if those have just been replayed, nobody else would look at them. */
  async function parkBehind(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<void> {
    await parking.add(group, messages, behind);
    const [first] = messages;
    if (!first) return;
    const oldest = await parking.next(group, first.topic, first.key);
    if (!oldest || Number(oldest.offset) < Number(first.offset)) return;
    try {
      await replayKey(options, first.topic, first.key, signal);
    } catch (error) {
      // It is parked, and stays so: it comes again because its place was not kept when it was parked.
      if (signal.aborted || isPassing(error)) throw error;
    } finally {
      onAttempt();
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
  { group, handle, log, handlerTimeoutMs = 20_000 }: HandlerOptions,
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
    const work = servedBy(() => handle(events, context));
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

function isLate(error: unknown): boolean {
  return error instanceof HandlerTimeout || (error instanceof DomainError && error.code === 'deadline_exceeded');
}

/** Whether something that a handler needs is away, so that it is no fault of the event. */
function isPassing(error: unknown): boolean {
  if (isAway(error)) return true;
  if (!(error instanceof DomainError)) return false;
  // A service that does not believe this one would refuse every event.
  const { cause } = error;
  if (cause instanceof ConnectError && [Code.Unauthenticated, Code.PermissionDenied].includes(cause.code)) return true;
  return ['unavailable', 'canceled'].includes(error.code);
}
