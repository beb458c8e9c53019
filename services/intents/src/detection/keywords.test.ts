import { expect, test } from 'vitest';
import { readText } from '../learning/ticket-text.ts';
import { keywordsIn } from './keywords.ts';

const { words } = readText({ subject: 'Kündigung', body: 'Ich möchte den Vertrag V-4711 zum Monatsende kündigen.' });

test.each([
  ['kündigung', true],
  ['KUNDIGUNG', true],
  ['kündig', false],
  ['vertrag v 4711', true],
  ['Vertrag, V/4711', true],
  ['V-4711 Vertrag', false],
  ['kündigung ich', true],
  ['', false],
  [' !? ', false],
])('looks for whole words in their order: %s', (keyword, isFound) => {
  expect(keywordsIn(words, [keyword])).toEqual(isFound ? [keyword] : []);
});

test('keeps the order of the keywords', () => {
  expect(keywordsIn(words, ['vertrag', 'rechnung', 'kündigen'])).toEqual(['vertrag', 'kündigen']);
});
