import type { OutgoingMessage } from './bus.ts';

/** A generous estimate of the size of a message's headers, in bytes. */
const headerBytes = 1000;

/**
 * Splits messages, in their order, into batches within a limit. A message larger than the limit is a batch alone.
 */
export function toBatches(
  messages: readonly OutgoingMessage[],
  limit: { bytes: number; messages: number },
): OutgoingMessage[][] {
  const batches: OutgoingMessage[][] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = message.value.length + message.key.length + headerBytes;
    const batch = batches.at(-1);
    if (batch && batch.length < limit.messages && bytes + size <= limit.bytes) {
      batch.push(message);
      bytes += size;
    } else {
      batches.push([message]);
      bytes = size;
    }
  }
  return batches;
}
