import { expect, test } from 'vitest';
import { oneLine } from './one-line.ts';

test.each(['\r\n', '\n', '\r', '\0', '\t', '\x7f', '\x80', '\u0085', '\x9f', '\u2028', '\u2029', '\r\n \t\r\n  '])(
  'a line break or control character becomes a space: %j',
  (lineBreak) => {
    expect(oneLine(`a${lineBreak}b`)).toBe('a b');
  },
);

test('spaces and all other characters stay', () => {
  expect(oneLine(' a  b\u00a0ü😀 ')).toBe(' a  b\u00a0ü😀 ');
});
