import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ByteCollector, pieceCounter } from '@ticketing/runtime/byte-collector.ts';
import { OutboundError } from './outbound-error.ts';

/** The start of a body, decompressed. */
export interface CollectedBody {
  bytes: Buffer;
  /** False if the body is longer than the limit. */
  isComplete: boolean;
}

/** Collects a body until it ends or is longer than the limit. */
export interface BodyCollector {
  /**
   * Settles when the body has ended or is too long. Errors: protocol_error for a body that cannot be decompressed, or has
   * too many pieces.
   */
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
  const collector = new ByteCollector({ maxBytes });
  let isLonger = false;
  const { promise: body, resolve, reject } = Promise.withResolvers<CollectedBody>();
  const finish = () => resolve({ bytes: collector.toBuffer(), isComplete: !isLonger });
  /** Returns whether the limits are not exceeded yet. */
  const add = (part: Buffer) => {
    if (isLonger) return false;
    isLonger = part.length > maxBytes - collector.size;
    try {
      collector.add(isLonger ? part.subarray(0, maxBytes - collector.size) : part);
    } catch {
      refuse();
      return false;
    }
    if (isLonger) finish();
    return !isLonger;
  };
  const refuse = () => {
    isLonger = true;
    reject(new OutboundError('protocol_error', { code: 'TOO_MANY_PIECES' }));
  };
  if (encoding === '' || encoding === 'identity') return { body, write: add, end: finish, stop() {} };

  const open = decoders[encoding];
  if (!open) throw new OutboundError('protocol_error', { code: 'UNKNOWN_ENCODING' });
  let sent = 0;
  const count = pieceCounter();
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
      try {
        count(part);
      } catch {
        refuse();
        decoder.destroy();
      }
      if (sent > maxBytes) {
        // A compressed body can go on for ever without yielding anything.
        isLonger = true;
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
