import type { OutgoingMessage } from './bus.ts';

/** About what the headers of a message take, in bytes. */
const headerBytes = 1000;

/** Parts messages, in their order, into batches that keep a limit; a message that is larger goes alone. */
export function batchesOf(
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
