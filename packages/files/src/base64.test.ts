import { seededBytes } from '@ticketing/testkit/seed.ts';
import { expect, test } from 'vitest';
import { decodeBase64, decodedSize, InvalidBase64Error } from './base64.ts';

const decode = (text: string) => Buffer.concat([...decodeBase64(text)]);

test.each([0, 1, 2, 3, 4, 393_215, 393_216, 393_217, 800_000])('decodes %i bytes, in pieces', (size) => {
  const bytes = seededBytes(size);
  const text = bytes.toString('base64');
  expect(decode(text).equals(bytes)).toBe(true);
  expect(decodedSize(text)).toBe(size);
});

test.each([
  ['without its padding', 'YQ'],
  ['with too much padding', 'YWI=='],
  ['with nothing but padding', '===='],
  ['with padding in the middle', 'YQ==YQ=='],
  ['with a line break', 'YWJj\nYWJ'],
  ['with a space', 'YW Jj==='],
  ['of the alphabet for URLs', '-_-_'],
  ['with a character beyond ASCII', 'YWJä'],
  ['with bits that are left over', 'YR=='],
  ['as a data URL', 'data:;base64,YQ=='],
])('refuses a text %s', (_, text) => {
  expect(() => decode(text)).toThrow(InvalidBase64Error);
});

test('refuses a text whose invalid character is at the start or the end of a piece', () => {
  const text = 'YWJj'.repeat(200_000);
  for (const index of [0, 524_287, 524_288, text.length - 1]) {
    const invalid = `${text.slice(0, index)}!${text.slice(index + 1)}`;
    expect(() => decode(invalid), String(index)).toThrow(InvalidBase64Error);
  }
  const padded = `${text.slice(0, 524_286)}==${text.slice(524_288)}`;
  expect(() => decode(padded)).toThrow(InvalidBase64Error);
});
