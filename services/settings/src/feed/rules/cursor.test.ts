import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventCursor, parseCursor } from './cursor.ts';

const maxPosition = 2 ** 48 - 1;

test('a cursor contains its position', () => {
  for (const position of [0, 1, 2 ** 32, maxPosition])
    expect(parseCursor(eventCursor(position), '#/after')).toBe(position);
  fc.assert(
    fc.property(fc.nat({ max: maxPosition }), (position) => parseCursor(eventCursor(position), '#/after') === position),
  );
});

test.each([
  ['empty', ''],
  ['too short', 'AQ'],
  ['too long', `${eventCursor(1)}A`],
  ['of another version', Buffer.from([2, 0, 0, 0, 0, 0, 1]).toString('base64url')],
  ['with other bits at its end', 'AQAAAAAAAB'],
  ['with padding', `${eventCursor(1)}==`],
  ['of the other alphabet', Buffer.from([1, 255, 255, 255, 255, 255, 255]).toString('base64')],
  ['with white space', ` ${eventCursor(1)}`],
  ['a number', '1'],
])('a text that is no cursor is refused: %s', (_, cursor) => {
  expect(() => parseCursor(cursor, '#/after')).toThrow(
    expect.objectContaining({
      reason: 'invalid_cursor',
      violations: [expect.objectContaining({ pointer: '#/after' })],
    }),
  );
});

test('any other text is refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(() => parseCursor(text, '#/after')).toThrow(expect.objectContaining({ reason: 'invalid_cursor' }));
    }),
  );
});
