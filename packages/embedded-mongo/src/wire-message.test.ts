import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { disallowExhaust, maxMessageBytes, replyHeader, wireMessages } from './wire-message.ts';

function message(bodyBytes: number, fill = 7): Buffer {
  const bytes = Buffer.alloc(16 + bodyBytes, fill);
  bytes.writeInt32LE(bytes.length, 0);
  return bytes;
}

async function split(chunks: Buffer[]): Promise<Buffer[]> {
  async function* source() {
    yield* chunks;
  }
  const messages: Buffer[] = [];
  for await (const found of wireMessages(source())) messages.push(found);
  return messages;
}

describe('wireMessages', () => {
  it('returns the same messages however the stream is divided into chunks', async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 6 });
    const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(sizes, cuts, async (bodySizes, cutSizes) => {
        const messages = bodySizes.map((size, index) => message(size, index + 1));
        const stream = Buffer.concat(messages);
        const chunks: Buffer[] = [];
        for (let start = 0, turn = 0; start < stream.length; turn += 1) {
          const end = start + (cutSizes[turn % cutSizes.length] ?? 1);
          chunks.push(stream.subarray(start, end));
          start = end;
        }
        expect(await split(chunks)).toEqual(messages);
      }),
    );
  });

  it('does not copy a chunk that is a whole message', async () => {
    const chunk = message(10);
    const [first] = await split([chunk]);
    expect(first?.buffer).toBe(chunk.buffer);
  });

  it.each([0, 15, -1, maxMessageBytes + 1])(
    'refuses a message with the length %i as soon as its length has arrived',
    async (length) => {
      const announced = Buffer.alloc(4);
      announced.writeInt32LE(length);
      await expect(split([announced])).rejects.toThrow(`invalid wire message length ${length}`);
    },
  );

  it('drops an incomplete message at the end of the stream', async () => {
    expect(await split([message(3), message(9).subarray(0, 20)])).toEqual([message(3)]);
  });
});

describe('disallowExhaust', () => {
  it('clears only this flag of an OP_MSG', () => {
    const bytes = message(10, 0);
    bytes.writeInt32LE(2013, 12);
    bytes.writeInt32LE(0x1_0002, 16);
    disallowExhaust(bytes);
    expect(bytes.readInt32LE(16)).toBe(2);
  });

  it('does not change other messages', () => {
    const query = message(10, 1);
    query.writeInt32LE(2004, 12);
    const before = Buffer.from(query);
    disallowExhaust(query);
    disallowExhaust(message(0));
    expect(query).toEqual(before);
  });
});

describe('replyHeader', () => {
  it('makes the header of an OP_MSG', () => {
    const header = replyHeader({ replyId: 3, requestId: 9, isLegacy: false }, 100);
    expect([0, 4, 8, 12, 16].map((at) => header.readInt32LE(at))).toEqual([121, 3, 9, 2013, 0]);
    expect(header.length).toBe(21);
  });

  it('makes the header of an OP_REPLY with one document', () => {
    const header = replyHeader({ replyId: 3, requestId: 9, isLegacy: true }, 100);
    expect([0, 4, 8, 12, 32].map((at) => header.readInt32LE(at))).toEqual([136, 3, 9, 1, 1]);
    expect(header.length).toBe(36);
  });
});
