import { wordSequence } from '@ticketing/text/words.ts';
import type { DetectionRequest } from './provider.ts';
import { type Detected, keywordConfidence } from './rules/detected.ts';

/** The characters of a keyword that are searched for. */
const maxKeywordChars = 200;

/**
 * Finds the keywords that folded words contain: as whole words in their order, without regard to case, accents and
 * punctuation. A keyword without letters and digits is in no text.
 */
export function findKeywords(words: string, keywords: readonly string[]): string[] {
  const all = new Set(words.split(' '));
  return keywords.filter((keyword) => {
    const folded = wordSequence(keyword, maxKeywordChars).trim();
    if (folded === '') return false;
    const [first = folded] = folded.split(' ', 1);
    // Most keywords are not in the text, and most are one word: both are known without searching through all of it.
    return all.has(first) && (first === folded || words.includes(` ${folded} `));
  });
}

/** The findings without regard to keywords. */
export type Findings = Omit<Detected, 'keywords'>;

/**
 * Adds the keywords that the ticket contains, and the tags that they suggest, to the findings of a provider. Keeps only tags of the
 * request, the most certain first.
 */
export function withKeywords(
  findings: Findings,
  { tags, keywords }: Pick<DetectionRequest, 'tags' | 'keywords'>,
  contained: ReadonlySet<string>,
): Detected {
  const certainty = new Map(findings.tags.map(({ label, confidence }) => [label, confidence]));
  const certain = tags.flatMap(({ id: label, keywords: own }) => {
    const byKeyword = own.some((keyword) => contained.has(keyword)) ? keywordConfidence : 0;
    const confidence = Math.max(certainty.get(label) ?? 0, byKeyword);
    return confidence === 0 ? [] : [{ label, confidence }];
  });
  return {
    ...findings,
    tags: certain.sort((left, right) => right.confidence - left.confidence || left.label - right.label),
    keywords: keywords.filter((keyword) => contained.has(keyword)),
  };
}

/** Collects the keywords of a request, each once. */
export function allKeywords({ tags, keywords }: Pick<DetectionRequest, 'tags' | 'keywords'>): string[] {
  return [...new Set([...keywords, ...tags.flatMap((tag) => tag.keywords)])];
}
