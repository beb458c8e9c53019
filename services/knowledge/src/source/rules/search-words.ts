import { splitWords } from '@ticketing/text/words.ts';

/** How many different words of a text are found. */
export const maxTextWords = 10_000;
/** How many words a search may have. */
export const maxSearchWords = 16;

/** Returns the words of the title and the name of a source. */
export function toTitleWords({ title, name }: { title: string; name: string }): string[] {
  return splitWords([title, name], maxTextWords);
}
