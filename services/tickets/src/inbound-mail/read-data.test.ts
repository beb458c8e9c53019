import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { readData } from './smtp-data.ts';

const mib = 1024 * 1024;

function counted() {
  const held = { bytes: 0, isReleased: false };
  const body = {
    add(bytes: number) {
      held.bytes += bytes;
    },
    release() {
      held.isReleased = true;
    },
  };
  return { held, body };
}

/** Writes pieces of a byte, with turns of the event loop between them. */
async function writePieces(stream: PassThrough, count: number) {
  for (let piece = 0; piece < count; piece++) {
    stream.write('x');
    if (piece % 64 === 0) await new Promise(setImmediate);
  }
  stream.end();
}

it('reads pieces of a byte up to their limit, and refuses one more after the end', async () => {
  // 10,000 pieces, and one for each 64 bytes.
  const limit = 10_158;
  const accepted = new PassThrough();
  const { held, body } = counted();
  const [mail] = await Promise.all([readData(accepted, mib, body), writePieces(accepted, limit)]);
  expect(mail).toHaveLength(limit);
  expect(held).toEqual({ bytes: limit, isReleased: false });

  const refused = new PassThrough();
  const result = readData(refused, mib, counted().body);
  await Promise.all([
    expect(result).rejects.toMatchObject({ reason: 'invalid_mail' }),
    writePieces(refused, mib).then(() => expect(refused.writableEnded).toBe(true)),
  ]);
  expect(refused.readableEnded).toBe(true);
});

it('returns nothing for a mail with a byte too many, and holds none of it', async () => {
  const stream = new PassThrough();
  const { held, body } = counted();
  const result = readData(stream, 4, body);
  stream.write('12345');
  stream.end('6');
  expect(await result).toBeUndefined();
  expect(held.isReleased).toBe(true);
});

it('fails as its stream fails, also after a refusal', async () => {
  for (const maxBytes of [10, 1]) {
    const stream = new PassThrough();
    const result = readData(stream, maxBytes, counted().body);
    stream.write('12');
    await new Promise(setImmediate);
    stream.destroy(Object.assign(new Error('closed'), { code: 'ECONNECTION' }));
    await expect(result).rejects.toMatchObject({ code: 'ECONNECTION' });
  }
});
