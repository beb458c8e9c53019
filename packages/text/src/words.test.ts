import { expect, test } from 'vitest';
import { splitWords } from './words.ts';

test('folds case, accents, width and ß', () => {
  expect(splitWords(['Größe GROSSE café CAFE Ｆｕｌｌ İstanbul'])).toEqual([
    ...['grosse', 'cafe', 'full', 'istanbul', 'groesse'],
  ]);
});
test('splits addresses and ids into their parts, and keeps other scripts', () => {
  expect(splitWords(['kim.lee@example.com', 4711, null, 'Заказ №5'])).toEqual([
    'kim',
    'lee',
    'example',
    'com',
    '4711',
    'заказ',
    'no5',
  ]);
});
test('keeps at most 2,000 words of 64 characters', () => {
  const words = splitWords([Array.from({ length: 3000 }, (_, index) => `w${index}`).join(' ')]);
  expect(words).toHaveLength(2000);
  expect(splitWords(['x'.repeat(100)])).toEqual(['x'.repeat(64)]);
});

test('reads a text whose characters expand only up to three times its length', () => {
  // Each of these characters becomes four words.
  const words = splitWords([`${'\ufdfa '.repeat(50_000)}last`]);
  expect(words).toHaveLength(4);
  expect(splitWords([`${'한국 '.repeat(50_000)}last`])).toContain('last');
});

test('tries to read a hundred telephone numbers at most', () => {
  const numbers = Array.from({ length: 90 }, (_, at) => `0049 30 ${1_000_000 + at}`).join(', ');
  expect(splitWords([numbers], 10_000)).toContain('49301000009');
  // Each of these is tried in eight lengths.
  const tables = Array.from({ length: 2000 }, () => '00 00 00 00 00 00 00 00').join(', ');
  expect(splitWords([`${tables}, +49 30 1234567`])).toContain('1234567');
});

test('splits a long text into the same words as its parts', () => {
  const parts = Array.from({ length: 1900 }, (_, index) => `wórt${index}`);
  expect(splitWords([parts.join(' ')])).toEqual(parts.map((word) => word.replace('ó', 'o')));
});
