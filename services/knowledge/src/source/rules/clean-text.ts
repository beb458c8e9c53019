import { cleanMarkdown, escapeMarkdown } from '@ticketing/html/clean-markdown.ts';
import { splitWords } from '@ticketing/text/words.ts';
import { maxTextWords } from './search-words.ts';

/** A harmless text, and the words by which it is found. */
export interface CleanText {
  text: string;
  textWords: string[];
}

/** The length of the start that is searched in a text that takes too long to clean. */
const escapedWordsLength = 20_000;

/** Cleans a text, and splits it into its words, without tags. */
export function cleanText(text: string): CleanText {
  const cleaned = cleanMarkdown(text);
  const words = cleaned.replace(/<[^<>]*>/g, ' ').replace(/&[a-z]{2,6};/g, ' ');
  return { text: cleaned, textWords: splitWords([words], maxTextWords) };
}

/** Escapes a text that takes too long to clean; only its start can be searched. */
export function escapedText(text: string): CleanText {
  return { text: escapeMarkdown(text), textWords: splitWords([text.slice(0, escapedWordsLength)], maxTextWords) };
}
