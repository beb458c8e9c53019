import { isTransient } from '@ticketing/store/document/transient-error.ts';
import type { IncomingMessage } from '../bus/bus.ts';
import { deadLetter, deadLetterBlocked } from './dead-lettering.ts';
import type { HandlerOptions } from './event-handler.ts';
import { failureCount } from './failure-count.ts';
import { HandlerTimeout, handleInTime, isLate } from './handle-in-time.ts';

/** How many keys of one delivery may be late. Each of them takes the whole time that a handler may take. */
const maxLateKeys = 2;

/** How far one delivery has come. */
interface Progress {
  signal: AbortSignal;
  handledKeys: number;
  lateKeys: number;
  /** Errors of messages that were neither handled nor dead-lettered, and must be delivered again. */
  retryable: unknown[];
}

/** The messages of one key, in their order; never empty. */
type KeyMessages = readonly IncomingMessage[];

/**
 * Makes the function that handles some messages of one partition. When it resolves, each message has been handled or is
 * dead-lettered (docs/reference/guarantees.md, Events, E6; docs/decisions/0019). `onHandled` is called whenever some
 * were handled.
 *
 * Errors: a transient error, or one of an event that has not failed often enough to be dead-lettered. All messages must
 * then be delivered again.
 */
export function messageHandler(
  options: HandlerOptions,
  onHandled: () => void = () => undefined,
): (messages: readonly IncomingMessage[], signal: AbortSignal) => Promise<void> {
  const { deadLetters, group } = options;
  const counts = failureCount();

  async function handleAll(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<void> {
    const topic = messages[0]?.topic ?? '';
    const byKey = Map.groupBy(messages, ({ key }) => key);
    const blockedKeys = await deadLetters.blockedKeys(group, topic, [...byKey.keys()]);
    const {
      neverLate = [],
      lateBefore = [],
      blocked = [],
    } = Object.groupBy(byKey.values(), (ofKey) => {
      if (blockedKeys.has(ofKey[0]?.key ?? '')) return 'blocked';
      return counts.timesLate(ofKey) >= 0 ? 'lateBefore' : 'neverLate';
    });
    const progress: Progress = { signal, handledKeys: 0, lateKeys: 0, retryable: [] };
    await handleTogether(neverLate, progress);
    await handleKeyByKey(lateBefore, progress);
    for (const ofKey of blocked) await deadLetterBlocked(options, ofKey, signal);
    if (progress.retryable.length > 0) throw progress.retryable[0];
  }

  /** Handles many keys in one call. If the call is late or has failed too often, each key is handled alone. */
  async function handleTogether(keys: readonly KeyMessages[], progress: Progress): Promise<void> {
    if (keys.length === 0) return;
    const messages = keys.flat();
    const error = await findFailure(messages, progress.signal);
    if (error === undefined) progress.handledKeys += keys.length;
    else if (isLate(error) || counts.addFailure(messages)) await handleKeyByKey(keys, progress);
    else progress.retryable.push(error);
  }

  /** Handles each key alone. Keys that were late most often come last. */
  async function handleKeyByKey(keys: readonly KeyMessages[], progress: Progress): Promise<void> {
    const leastLateFirst = keys.toSorted((left, right) => counts.timesLate(left) - counts.timesLate(right));
    for (const ofKey of leastLateFirst) {
      if (progress.lateKeys < maxLateKeys) await handleKey(ofKey, progress);
      else progress.retryable.push(new HandlerTimeout('too many events take too long'));
    }
  }

  /** Handles the messages of a key one by one. The first that fails too often, and all after it, are dead-lettered. */
  async function handleKey(messages: KeyMessages, progress: Progress): Promise<void> {
    for (const [index, message] of messages.entries()) {
      const error = await findFailure([message], progress.signal);
      if (error === undefined) continue;
      if (countFailure(message, error, progress)) {
        const followers = messages.slice(index + 1);
        await deadLetter(options, message, followers, error);
        counts.reset([message, ...followers]);
      } else {
        progress.retryable.push(error);
      }
      return;
    }
    progress.handledKeys += 1;
  }

  /**
   * Counts a failure; returns whether the message must now be dead-lettered. Being late counts only if other keys of
   * the same delivery were handled: if none was, then something that the handler needs may be slow for all of them.
   */
  function countFailure(message: IncomingMessage, error: unknown, progress: Progress): boolean {
    if (!isLate(error)) return counts.addFailure([message]);
    progress.lateKeys += 1;
    return counts.addLateness(message, progress.handledKeys > 0);
  }

  /** Calls the handler and returns its error, or undefined. Errors: a transient one is thrown. */
  async function findFailure(messages: readonly IncomingMessage[], signal: AbortSignal): Promise<unknown> {
    try {
      await handleInTime(options, messages, signal);
    } catch (error) {
      if (signal.aborted || isTransient(error)) throw error;
      return error;
    }
    counts.reset(messages);
    onHandled();
    return undefined;
  }

  return handleAll;
}
