import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { OutboundError } from './outbound-error.ts';

/** The start of a body, decompressed. */
export interface CollectedBody {
  bytes: Buffer;
  /** False if the body is longer than the limit. */
  isComplete: boolean;
}

/** Collects a body until it ends or is longer than the limit. */
export interface BodyCollector {
  /** Settles when the body has ended or is too long. Errors: protocol_error for a body that cannot be decompressed. */
  body: Promise<CollectedBody>;
  /** Takes a part. Returns whether the next one can be taken at once; otherwise `onDrain` is called when it can. */
  write(part: Buffer): boolean;
  end(): void;
  /** Ends the work without a result. */
  stop(): void;
}

const decoders: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * Opens a collector for a body of at most `maxBytes`, counted as it was sent and as it is decompressed.
 *
 * Errors: protocol_error for an encoding that is not gzip, deflate or br.
 */
export function collectBody(encoding: string, maxBytes: number, onDrain: () => void): BodyCollector {
  const parts: Buffer[] = [];
  let size = 0;
  const { promise: body, resolve, reject } = Promise.withResolvers<CollectedBody>();
  const finish = () => resolve({ bytes: Buffer.concat(parts).subarray(0, maxBytes), isComplete: size <= maxBytes });
  /** Returns whether the limit is not exceeded yet. */
  const add = (part: Buffer) => {
    parts.push(part);
    size += part.length;
    if (size > maxBytes) finish();
    return size <= maxBytes;
  };
  if (encoding === '' || encoding === 'identity') return { body, write: add, end: finish, stop() {} };

  const open = decoders[encoding];
  if (!open) throw new OutboundError('protocol_error', { code: 'UNKNOWN_ENCODING' });
  let sent = 0;
  const decoder = open();
  decoder.on('data', (part: Buffer) => {
    if (!add(part)) decoder.destroy();
  });
  decoder.on('drain', onDrain);
  decoder.on('end', finish);
  decoder.on('error', () => reject(new OutboundError('protocol_error', { code: 'INVALID_COMPRESSION' })));
  return {
    body,
    write(part) {
      sent += part.length;
      if (sent > maxBytes) {
        // A compressed body can go on for ever without yielding anything.
        size = Number.POSITIVE_INFINITY;
        finish();
        decoder.destroy();
      }
      return decoder.destroyed || decoder.write(part);
    },
    end() {
      if (sent === 0) finish();
      else decoder.end();
    },
    stop: () => decoder.destroy(),
  };
}
