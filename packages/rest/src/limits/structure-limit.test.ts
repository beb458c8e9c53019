import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limitJsonStructure } from './structure-limit.ts';

const limit = 60_000;
const check = (text: string) => () => limitJsonStructure(Buffer.from(text));

test.each([
  ['commas', (count: number) => `[${'1,'.repeat(count - 1)}1]`],
  ['lists', (count: number) => '['.repeat(count)],
  ['objects', (count: number) => '{'.repeat(count)],
  ['members after strings with quotes', (count: number) => `["\\\\","\\"",${'"",'.repeat(count - 3)}1]`],
])('accepts as many %s as the limit, and not one more', (_, text) => {
  expect(check(text(limit))).not.toThrow();
  expect(check(text(limit + 1))).toThrowError(expect.objectContaining({ reason: 'too_complex' }));
});

// guarantee: A5
test('accepts as many keys as the limit, and not one more', () => {
  const keys = (count: number) => `{${'"":1,'.repeat(count - 1)}"":1}`;
  expect(check(keys(25_000))).not.toThrow();
  expect(check(keys(25_001))).toThrowError(expect.objectContaining({ reason: 'too_complex' }));
});

test('counts nothing inside strings, even if they are long or unterminated', () => {
  expect(check(`{"base64":"${',[{:'.repeat(limit)}"}`)).not.toThrow();
  expect(check(`{"a":"\\${'\\"'.repeat(limit)},,,"}`)).not.toThrow();
  expect(check(`"${','.repeat(2 * limit)}`)).not.toThrow();
});

test('finds the end of every string, however many quotes and backslashes are in it', () => {
  const piece = fc.oneof(
    fc.constantFrom('"', '\\', '\\"', '"\\', ','),
    fc.integer({ min: 60, max: 70 }).map((length) => ','.repeat(length)),
  );
  const rest = ',1'.repeat(limit - 1);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
      const text = JSON.stringify(pieces.join(''));
      expect(check(`[${text}${rest}]`)).not.toThrow();
      expect(check(`[${text}${rest},1]`)).toThrow('holds more than 60000 values');
    }),
    { numRuns: 8 },
  );
});
