import { cleanMarkdown, escapeMarkdown } from '@ticketing/html/clean-markdown.ts';
import { maxTextWords, searchWordsOf } from './search-words.ts';

/** A harmless text, and the words by which it is found. */
export interface CleanText {
  text: string;
  textWords: string[];
}

/** So much of a text is searched if it takes too much time to clean it. */
const escapedWordsLength = 20_000;

/** Cleans a text, and splits it into its words, without tags. */
export function cleanText(text: string): CleanText {
  const cleaned = cleanMarkdown(text);
  const words = cleaned.replace(/<[^<>]*>/g, ' ').replace(/&[a-z]{2,6};/g, ' ');
  return { text: cleaned, textWords: searchWordsOf([words], maxTextWords) };
}

/** What is kept of a text that takes too much time to clean. */
export function escapedText(text: string): CleanText {
  return { text: escapeMarkdown(text), textWords: searchWordsOf([text.slice(0, escapedWordsLength)], maxTextWords) };
}
