import { expect, test } from 'vitest';
import { keywordConfidence } from './rules/detected.ts';
import { soughtKeywords, withKeywords } from './with-keywords.ts';

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
  expect(soughtKeywords(request)).toEqual(['bill', 'refund', 'moving', 'address']);
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
