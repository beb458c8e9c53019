/** The largest message that MongoDB and its drivers allow. */
export const maxMessageBytes = 48_000_000;

const headerBytes = 16;
const OP_REPLY = 1;
const OP_MSG = 2013;
const EXHAUST_ALLOWED = 1 << 16;

/**
 * Splits a stream of bytes into wire messages.
 *
 * Shape: a message that came in one chunk is a view of that chunk; any other is copied once.
 * Errors: a length that no message can have. An incomplete message at the end of the stream is dropped.
 */
export async function* wireMessages(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let parts: Buffer[] = [];
  let partBytes = 0;
  let awaitedBytes = 4;
  for await (const chunk of chunks) {
    parts.push(chunk);
    partBytes += chunk.length;
    if (partBytes < awaitedBytes) continue;
    // biome-ignore lint/plugin: its clients are the services of this machine, and a message is limited in bytes
    let rest = parts.length === 1 ? chunk : Buffer.concat(parts, partBytes);
    awaitedBytes = nextLength(rest);
    while (rest.length >= awaitedBytes) {
      const message = rest.subarray(0, awaitedBytes);
      rest = rest.subarray(awaitedBytes);
      awaitedBytes = nextLength(rest);
      yield message;
    }
    parts = rest.length === 0 ? [] : [rest];
    partBytes = rest.length;
  }
}

/** Returns how many bytes are needed next: 4 for the length of a message, then the whole message. */
function nextLength(bytes: Buffer): number {
  if (bytes.length < 4) return 4;
  const length = bytes.readInt32LE(0);
  if (length < headerBytes || length > maxMessageBytes) throw new Error(`invalid wire message length ${length}`);
  return length;
}

/**
 * Clears, in place, the flag by which a client allows several replies to one request.
 *
 * A server may always send a single reply, and the engine refuses flags that it does not know.
 */
export function disallowExhaust(message: Buffer): void {
  if (message.length < headerBytes + 4 || message.readInt32LE(12) !== OP_MSG) return;
  message.writeInt32LE(message.readInt32LE(16) & ~EXHAUST_ALLOWED, 16);
}

/** The ids of a reply and of its request, and whether the request was an OP_QUERY, as the first of a connection may be. */
export interface ReplyHeader {
  readonly replyId: number;
  readonly requestId: number;
  readonly isLegacy: boolean;
}

/** Makes the bytes that precede the document of a reply on the wire. */
export function replyHeader({ replyId, requestId, isLegacy }: ReplyHeader, documentBytes: number): Buffer {
  const header = Buffer.alloc(headerBytes + (isLegacy ? 20 : 5));
  header.writeInt32LE(header.length + documentBytes, 0);
  header.writeInt32LE(replyId, 4);
  header.writeInt32LE(requestId, 8);
  header.writeInt32LE(isLegacy ? OP_REPLY : OP_MSG, 12);
  if (isLegacy) header.writeInt32LE(1, 32); // one document returned
  return header;
}
