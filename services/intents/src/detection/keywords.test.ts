import { expect, test } from 'vitest';
import { readText } from '../learning/ticket-text.ts';
import { allKeywords, findKeywords, withKeywords } from './keywords.ts';
import { keywordConfidence } from './rules/detected.ts';

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
  expect(findKeywords(words, [keyword])).toEqual(isFound ? [keyword] : []);
});

test('keeps the order of the keywords', () => {
  expect(findKeywords(words, ['vertrag', 'rechnung', 'kündigen'])).toEqual(['vertrag', 'kündigen']);
});

const found = { languageCode: 'en', sentiment: null, summary: null, spam: null };
const request = {
  tags: [
    { id: 1, name: 'Move', keywords: ['moving', 'address'] },
    { id: 2, name: 'Bill', keywords: ['bill'] },
    { id: 3, name: 'Other', keywords: [] },
  ],
  keywords: ['bill', 'refund'],
};

test('every keyword is looked for once', () => {
  expect(allKeywords(request)).toEqual(['bill', 'refund', 'moving', 'address']);
});

test('a tag is found by its keyword or by what was found otherwise, whichever is more certain; no other tag is', () => {
  const tags = [0.9, 0.7, 1].map((confidence, index) => ({ label: [2, 1, 99][index] ?? 0, confidence }));
  expect(withKeywords({ ...found, tags }, request, new Set(['address', 'bill']))).toEqual({
    ...found,
    tags: [
      { label: 2, confidence: 0.9 },
      { label: 1, confidence: keywordConfidence },
    ],
    keywords: ['bill'],
  });
});
