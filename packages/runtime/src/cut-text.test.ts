import { expect, test } from 'vitest';
import { cutBytes, cutChars } from './cut-text.ts';

test('a text is cut at so many UTF-16 units, but not within a character', () => {
  expect(cutChars('abcd', 4)).toBe('abcd');
  expect(cutChars('abcde', 4)).toBe('abcd');
  expect(cutChars('abc😀', 5)).toBe('abc😀');
  expect(cutChars('abc😀', 4)).toBe('abc');
  expect(cutChars('a😀😀', 3)).toBe('a😀');
});

test('a text is cut at so many bytes, but not within a character', () => {
  expect(cutBytes('äöü', 6)).toBe('äöü');
  expect(cutBytes('äöü', 5)).toBe('äö');
  for (const max of [3, 4, 5, 6]) expect(cutBytes('ä €😀', max)).toBe(max < 6 ? 'ä ' : 'ä €');
});
