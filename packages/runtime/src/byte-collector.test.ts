import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteCollector, CollectorLimitError, collectStream, noteJoined, pieceCounter } from './byte-collector.ts';

const MiB = 1024 * 1024;
const tooManyBytes = expect.objectContaining({ name: 'CollectorLimitError', limit: 'bytes' });
const tooManyPieces = expect.objectContaining({ name: 'CollectorLimitError', limit: 'pieces' });

test('the result is the pieces one after the other, however they are cut', () => {
  const sizes = fc.array(fc.oneof(fc.nat(5), fc.nat(200_000)), { maxLength: 40 });
  fc.assert(
    fc.property(sizes, (lengths) => {
      const collector = new ByteCollector({ maxBytes: 20 * MiB });
      const pieces = lengths.map((length, index) => Buffer.alloc(length, index + 1));
      for (const piece of pieces) collector.add(piece);
      const whole = Buffer.concat(pieces);
      expect(collector.size).toBe(whole.length);
      expect(collector.toBuffer().equals(whole)).toBe(true);
      expect(collector.size).toBe(0);
    }),
    { numRuns: 50 },
  );
});

test('a piece is copied: its buffer can be used again', () => {
  const collector = new ByteCollector({ maxBytes: 10 });
  const piece = Buffer.from('abc');
  collector.add(piece);
  piece.fill(0);
  expect(collector.toBuffer().toString()).toBe('abc');
});

// guarantee: B2
test('blocks take at most twice the bytes, and 64 KiB more than many bytes', () => {
  for (const size of [1, 1000, 5000, 70_000, 300_000]) {
    let allocated = 0;
    const { allocUnsafe } = Buffer;
    Buffer.allocUnsafe = (bytes) => {
      allocated += bytes;
      return allocUnsafe(bytes);
    };
    try {
      const collector = new ByteCollector({ maxBytes: size });
      for (let rest = size; rest > 0; rest -= 100) collector.add(Buffer.alloc(Math.min(rest, 100)));
    } finally {
      Buffer.allocUnsafe = allocUnsafe;
    }
    expect(allocated).toBeLessThanOrEqual(Math.max(1024, Math.min(2 * size, size + 64 * 1024)));
  }
});

test('the limit of bytes is exact, and a refused body leaves nothing behind', () => {
  const collector = new ByteCollector({ maxBytes: 10 });
  collector.add(Buffer.alloc(10));
  expect(() => collector.add(Buffer.alloc(1))).toThrowError(tooManyBytes);
  expect(collector.size).toBe(0);
});

// guarantee: B2
test('a body may have 10,000 pieces, and one more for each 64 bytes', () => {
  const collector = new ByteCollector({ maxBytes: MiB });
  const one = Buffer.alloc(1);
  for (let piece = 0; piece < 10_158; piece++) collector.add(one);
  expect(() => collector.add(one)).toThrowError(tooManyPieces);
});

test('empty pieces count, and so do pieces that nobody collects', () => {
  const count = pieceCounter();
  const empty = Buffer.alloc(0);
  for (let piece = 0; piece < 10_000; piece++) count(empty);
  expect(() => count(empty)).toThrowError(CollectorLimitError);
});

test('a joined piece counts as the pieces that it is made of', () => {
  const count = pieceCounter();
  count(noteJoined(Buffer.alloc(0), 10_000));
  expect(() => count(noteJoined(Buffer.alloc(64), 2))).toThrowError(CollectorLimitError);
});

test('a stream that is refused is read to its end', async () => {
  const stream = new PassThrough();
  const collected = collectStream(stream, new ByteCollector({ maxBytes: 3 }));
  stream.write('abcd');
  await expect(collected).rejects.toThrowError(tooManyBytes);
  stream.end(Buffer.alloc(MiB));
  await expect(new Promise((resolve) => stream.once('end', () => resolve('ended')))).resolves.toBe('ended');
});

test('a stream that closes before its end is an error', async () => {
  const stream = new PassThrough();
  const collected = collectStream(stream, new ByteCollector({ maxBytes: 3 }));
  stream.write('a');
  stream.destroy();
  await expect(collected).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
});
