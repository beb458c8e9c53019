import { isTransient } from '@ticketing/store/document/transient-error.ts';
import type { IncomingMessage } from '../bus/bus.ts';
import type { HandlerOptions } from './event-handler.ts';
import { replayKey } from './replay-key.ts';

/** The reason for messages that are dead-lettered only because an earlier one of their key is. */
const earlierIsDeadLettered = 'an earlier event of the same key is dead-lettered';

/** Dead-letters a message that cannot be handled, and the messages of its key that follow it. */
export async function deadLetter(
  { deadLetters, group, log }: HandlerOptions,
  message: IncomingMessage,
  followers: readonly IncomingMessage[],
  error: unknown,
): Promise<void> {
  log.error({ err: error, group, key: message.key, topic: message.topic }, 'an event is dead-lettered');
  await deadLetters.add(group, [message], error instanceof Error ? error.message : String(error));
  if (followers.length > 0) await deadLetters.add(group, followers, earlierIsDeadLettered);
}

/**
 * Dead-letters messages whose key is blocked. If an operator's replay has removed the older dead letters meanwhile,
 * no other replay would handle these messages, so they are replayed at once.
 *
 * Errors: a transient error of the handler. After any other error the messages stay dead-lettered.
 */
export async function deadLetterBlocked(
  options: HandlerOptions,
  messages: readonly IncomingMessage[],
  signal: AbortSignal,
): Promise<void> {
  const { deadLetters, group } = options;
  const [first] = messages;
  if (!first) return;
  await deadLetters.add(group, messages, earlierIsDeadLettered);
  const oldest = await deadLetters.next(group, first.topic, first.key);
  // The key is still blocked if its oldest dead letter is older than these messages, or failed itself. In the second
  // case these messages were dead-lettered before, but not acknowledged, and were therefore delivered again.
  if (!oldest || oldest.reason !== earlierIsDeadLettered || Number(oldest.offset) < Number(first.offset)) return;
  try {
    await replayKey(options, first.topic, first.key, signal);
  } catch (error) {
    if (signal.aborted || isTransient(error)) throw error;
  }
}
