import { DomainError } from '@ticketing/errors/domain-error.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cursorCodec } from './cursor.ts';

const codec = cursorCodec(Buffer.alloc(32, 1));
const state = { now: 1, total: 2, offset: 3, segment: 0, value: 'a', id: 4 };

function refusalReason(cursor: string, boundTo: unknown, reader = codec): string | undefined {
  try {
    reader.read(cursor, boundTo);
    return undefined;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.reason;
  }
}

test('reads the state that it wrote, with values of every type', () => {
  const value = fc.oneof(fc.integer(), fc.string({ unit: 'binary' }), fc.boolean(), fc.date({ noInvalidDate: true }));
  fc.assert(
    fc.property(value, fc.nat(), fc.jsonValue(), (given, id, boundTo) => {
      const written = { ...state, value: given, id };
      expect(codec.read(codec.write(written, boundTo), boundTo)).toEqual(written);
    }),
  );
});

test('refuses a cursor that is bound to something else, or was signed with another key', () => {
  const cursor = codec.write(state, ['a', 1]);
  expect(refusalReason(cursor, ['a', 1])).toBeUndefined();
  for (const other of [['a', 2], ['a'], ['a', 1, null], null])
    expect(refusalReason(cursor, other)).toBe('invalid_cursor');
  expect(refusalReason(cursor, ['a', 1], cursorCodec(Buffer.alloc(32, 2)))).toBe('invalid_cursor');
});

test('refuses every other text, even one that decodes to the same bytes', () => {
  const cursor = codec.write(state, null);
  for (const text of [
    '',
    '.',
    '..',
    `${cursor}=`,
    `${cursor}.`,
    `.${cursor}`,
    ` ${cursor}`,
    `${cursor}!`,
    cursor.replace('.', '=.'),
  ]) {
    expect(refusalReason(text, null)).toBe('invalid_cursor');
  }
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (const letter of letters) {
    const text = cursor.slice(0, -1) + letter;
    if (text !== cursor) expect(refusalReason(text, null)).toBe('invalid_cursor');
  }
});
