import type { HandlerOptions } from './event-handler.ts';
import { handleInTime } from './handle-in-time.ts';

/**
 * Handles the dead letters of a key, the oldest first, and removes each that was handled. Without dead letters the key
 * is no longer blocked. Returns how many were handled.
 *
 * Errors: the error of the first event that fails again. This event and those after it stay dead-lettered.
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
