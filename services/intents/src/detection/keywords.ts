import { wordSequence } from '@ticketing/text/words.ts';
import type { DetectionRequest } from './provider.ts';
import { type Detected, keywordConfidence } from './rules/detected.ts';

/** A longer keyword is cut, before it is looked for. */
const maxKeywordChars = 200;

/**
 * Finds which of the keywords folded words contain: as whole words in their order, without regard to case, accents and
 * punctuation. A keyword without letters and digits is in no text.
 */
export function keywordsIn(words: string, keywords: readonly string[]): string[] {
  const all = new Set(words.split(' '));
  return keywords.filter((keyword) => {
    const sought = wordSequence(keyword, maxKeywordChars).trim();
    if (sought === '') return false;
    const [first = sought] = sought.split(' ', 1);
    // Most keywords are not in the text, and most are one word: both are known without searching through all of it.
    return all.has(first) && (first === sought || words.includes(` ${sought} `));
  });
}

/** The findings without regard to keywords. */
export type FoundInText = Omit<Detected, 'keywords'>;

/**
 * Adds to the findings of any provider what follows from the keywords that the ticket contains. Keeps only tags of the
 * request, the most certain first.
 */
export function withKeywords(
  found: FoundInText,
  { tags, keywords }: Pick<DetectionRequest, 'tags' | 'keywords'>,
  contained: ReadonlySet<string>,
): Detected {
  const certainty = new Map(found.tags.map(({ label, confidence }) => [label, confidence]));
  const certain = tags.flatMap(({ id: label, keywords: own }) => {
    const byKeyword = own.some((keyword) => contained.has(keyword)) ? keywordConfidence : 0;
    const confidence = Math.max(certainty.get(label) ?? 0, byKeyword);
    return confidence === 0 ? [] : [{ label, confidence }];
  });
  return {
    ...found,
    tags: certain.sort((left, right) => right.confidence - left.confidence || left.label - right.label),
    keywords: keywords.filter((keyword) => contained.has(keyword)),
  };
}

/** All keywords that are looked for, each once. */
export function soughtKeywords({ tags, keywords }: Pick<DetectionRequest, 'tags' | 'keywords'>): string[] {
  return [...new Set([...keywords, ...tags.flatMap((tag) => tag.keywords)])];
}
