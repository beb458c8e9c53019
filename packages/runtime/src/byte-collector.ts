/** Thrown for a body that has more bytes, or more pieces, than its collector takes. */
export class CollectorLimitError extends Error {
  override readonly name = 'CollectorLimitError';
  readonly limit: 'bytes' | 'pieces';

  constructor(limit: 'bytes' | 'pieces') {
    super(`too many ${limit}`);
    this.limit = limit;
  }
}

/** Pieces that a body of any size may have, and bytes for which it may have one more. */
const freePieces = 10_000;
const bytesOfPiece = 64;

const joined = new WeakMap<Uint8Array, number>();

/** Notes that a piece was joined from several, so that it counts as that many. Returns the piece. */
export function noteJoined(piece: Buffer, pieces: number): Buffer {
  joined.set(piece, pieces);
  return piece;
}

/**
 * Makes a count of the pieces in which a body arrives. Every piece costs time and memory, however small it is.
 *
 * Errors: CollectorLimitError for pieces.
 */
export function pieceCounter(): (piece: Uint8Array) => void {
  let pieces = 0;
  let size = 0;
  return (piece) => {
    pieces += joined.get(piece) ?? 1;
    size += piece.length;
    if (pieces > freePieces + size / bytesOfPiece) throw new CollectorLimitError('pieces');
  };
}

const minBlockBytes = 1024;
const maxBlockBytes = 64 * 1024;

/**
 * Collects the bytes that a stranger sends. Pieces are copied into blocks as they come, so that n bytes take at most
 * 2n + 64 KiB however they arrive, the result included: a piece that is kept costs an object, and may be a view of a
 * much larger buffer.
 *
 * Errors: CollectorLimitError, after which the collector is empty.
 */
export class ByteCollector {
  readonly #maxBytes: number;
  readonly #count = pieceCounter();
  #blocks: Buffer[] = [];
  #size = 0;
  /** Bytes that are used of the last block. */
  #used = 0;

  /** Units: `maxBytes` in bytes. */
  constructor({ maxBytes }: { maxBytes: number }) {
    this.#maxBytes = maxBytes;
  }

  /** The bytes that are collected. */
  get size(): number {
    return this.#size;
  }

  /** Copies a piece; its buffer can be used again. Errors: CollectorLimitError. */
  add(piece: Uint8Array): void {
    try {
      if (this.#size + piece.length > this.#maxBytes) throw new CollectorLimitError('bytes');
      this.#count(piece);
    } catch (error) {
      this.clear();
      throw error;
    }
    for (let start = 0; start < piece.length; ) {
      const block = this.#blockFor(piece.length - start);
      const taken = Math.min(piece.length - start, block.length - this.#used);
      block.set(piece.subarray(start, start + taken), this.#used);
      start += taken;
      this.#used += taken;
      this.#size += taken;
    }
  }

  #blockFor(bytes: number): Buffer {
    const last = this.#blocks.at(-1);
    if (last && this.#used < last.length) return last;
    const block = Buffer.allocUnsafe(Math.min(maxBlockBytes, Math.max(minBlockBytes, this.#size, bytes)));
    this.#blocks.push(block);
    this.#used = 0;
    return block;
  }

  /** Returns the collected bytes. The collector is empty afterwards. */
  toBuffer(): Buffer {
    const [first] = this.#blocks;
    const isOne = this.#blocks.length === 1 && first;
    const bytes = isOne ? first.subarray(0, this.#size) : Buffer.concat(this.#blocks, this.#size);
    this.clear();
    return bytes;
  }

  /** Drops the collected bytes. */
  clear(): void {
    this.#blocks = [];
    this.#size = 0;
    this.#used = 0;
  }
}

/**
 * Collects a stream to its end. The rest of a refused stream is read and discarded, because a client that is still writing
 * would not see the response otherwise.
 *
 * Errors: those of `add`, by default CollectorLimitError; that of the stream, also if it closes before its end.
 */
export function collectStream(
  stream: NodeJS.ReadableStream,
  collector: ByteCollector,
  add: (piece: Uint8Array) => void = (piece) => collector.add(piece),
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const onData = (piece: Buffer) => {
    try {
      add(piece);
    } catch (error) {
      end();
      stream.resume();
      reject(error);
    }
  };
  const onEnd = () => {
    end();
    resolve(collector.toBuffer());
  };
  const onError = (error: Error) => {
    end();
    collector.clear();
    reject(error);
  };
  const onClose = () => onError(Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' }));
  const end = () => stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
  stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  return promise;
}
