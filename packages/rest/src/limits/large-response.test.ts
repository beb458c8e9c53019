import { create } from '@bufbuild/protobuf';
import { SearchTicketsResponseSchema } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { messageEncoder } from '../codec/encode.ts';
import { isLarge, markAsLarge, writeInPieces } from './large-response.ts';

async function collect(pieces: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

const ticket = fc.record({
  id: fc.nat(),
  subject: fc.string({ unit: 'grapheme' }),
  rawData: fc.dictionary(fc.string(), fc.string()),
});

test('the pieces together are the text that the encoder makes at once', async () => {
  const response = fc.record({
    tickets: fc.array(ticket),
    total: fc.nat(),
    nextCursor: fc.option(fc.string(), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(
      response,
      fc.constantFrom(undefined, 'include_raw_data'),
      async ({ nextCursor, ...fields }, shown) => {
        const message = create(SearchTicketsResponseSchema, {
          ...fields,
          ...(nextCursor === undefined ? {} : { nextCursor }),
        });
        const pieces = await collect(writeInPieces(SearchTicketsResponseSchema, message, shown, JSON.stringify));
        const whole = JSON.stringify(messageEncoder(SearchTicketsResponseSchema, shown)(message));
        expect(Buffer.concat(pieces).toString()).toBe(whole);
      },
    ),
  );
});

test('an item is encoded only when it is needed, and other work runs in between', async () => {
  let encoded = 0;
  const tickets = Array.from({ length: 10 }, () => {
    const item = { text: 'x'.repeat(300_000) };
    return {
      subject: 'a',
      get rawData() {
        encoded += 1;
        return item;
      },
    };
  });
  const message = { ...create(SearchTicketsResponseSchema), tickets } as never;
  const pieces = writeInPieces(SearchTicketsResponseSchema, message, 'include_raw_data', JSON.stringify);
  await pieces.next();
  expect(encoded).toBeLessThanOrEqual(2);
  expect((await collect(pieces)).length).toBeGreaterThan(8);
});

test('a response is large if it was marked', () => {
  expect(isLarge(create(SearchTicketsResponseSchema))).toBe(false);
  expect(isLarge(markAsLarge(create(SearchTicketsResponseSchema)))).toBe(true);
});

test('an item with long texts is written elsewhere, and is in its place', async () => {
  const subjects = ['a', 'long', 'b', 'long', 'long'];
  const message = create(SearchTicketsResponseSchema, { tickets: subjects.map((subject) => ({ subject })) });
  const written: string[] = [];
  const pieces = writeInPieces(SearchTicketsResponseSchema, message, undefined, (value) => {
    const text = JSON.stringify(value);
    if (!text.includes('"long"')) return text;
    written.push(text);
    return Promise.resolve(Buffer.from(text));
  });
  const text = Buffer.concat(await collect(pieces)).toString();
  expect(text).toBe(JSON.stringify(messageEncoder(SearchTicketsResponseSchema)(message)));
  expect(written).toHaveLength(3);
});
