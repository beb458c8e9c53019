/** The encoded responses whose clients have not read them yet. */
export interface ResponsesBeingSent {
  /** Adds a response, which `end` ends if its memory is needed. Returns the function that removes it. */
  add(bytes: number, end: () => void): () => void;
  /** Their bytes. */
  used(): number;
}

interface Sending {
  bytes: number;
  end(): void;
}

/**
 * Bounds the bytes of responses that are being sent: what is added beyond them ends those that have been sent for the
 * longest. Their memory is free then, so nobody waits for a client that reads slowly.
 */
export function responsesBeingSent(maxBytes: number): ResponsesBeingSent {
  const sending = new Set<Sending>();
  let used = 0;
  const remove = (one: Sending) => {
    if (sending.delete(one)) used -= one.bytes;
  };
  return {
    add(bytes, end) {
      const added = { bytes, end };
      for (const oldest of sending) {
        if (used + bytes <= maxBytes) break;
        remove(oldest);
        oldest.end();
      }
      sending.add(added);
      used += bytes;
      return () => remove(added);
    },
    used: () => used,
  };
}
