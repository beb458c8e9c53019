import { sentimentWords } from './sentiment-words.ts';

/** The sentiment of a customer, as far as the words show it. A problem that is described without feeling is neutral. */
export interface Sentiment {
  label: 'positive' | 'neutral' | 'negative';
  /** From -1, very negative, to 1. */
  score: number;
}

/** The number of words after a negation whose sentiment is reversed. */
const negationReach = 3;
/** The surplus of one sentiment at which the score is half of the highest. */
const halfway = 2;
/** Thanks are worth a part of a feeling: people who ask for something thank too. */
const worthOfThanks = 0.3;
/** Less is no feeling. */
const leastFeeling = 1;

/**
 * Finds the sentiment of a text by its folded words and its language. Null for languages without a list of words: the
 * sentiment is unknown then, which is not the same as neutral.
 */
export function findSentiment(words: string, language: string | null): Sentiment | null {
  const list = language === null ? undefined : wordList(language);
  if (!list) return null;
  let folded = words;
  for (const formula of list.formulas) folded = folded.replaceAll(formula, ' ');
  let feeling = 0;
  let reach = 0;
  for (const word of folded.split(' ')) {
    if (word === '') continue;
    if (list.negations.has(word)) {
      reach = negationReach;
      continue;
    }
    const value = list.findFeeling(word);
    feeling += reach > 0 ? -value : value;
    reach -= 1;
  }
  const label = feeling >= leastFeeling ? 'positive' : feeling <= -leastFeeling ? 'negative' : 'neutral';
  return { label, score: feeling / (Math.abs(feeling) + halfway) };
}

/** The words of a language, prepared for the search. */
interface WordList {
  negations: ReadonlySet<string>;
  formulas: readonly string[];
  /** Returns how positive a word is: from -1 to 1. */
  findFeeling(word: string): number;
}

const prepared = new Map<string, WordList>();

function wordList(language: string): WordList | undefined {
  const words = sentimentWords.get(language);
  const known = prepared.get(language);
  if (known || !words) return known;
  const values = new Map<string, number>();
  for (const entry of splitWords(words.negative)) values.set(entry, -1);
  for (const entry of splitWords(words.positive)) values.set(entry, 1);
  for (const entry of splitWords(words.thanks)) values.set(entry, worthOfThanks);
  const list = {
    negations: new Set(splitWords(words.negations)),
    // The spaces keep a formula from being found inside other words.
    formulas: words.formulas.map((formula) => ` ${formula} `),
    findFeeling: (word: string) => findFeeling(word, values),
  };
  prepared.set(language, list);
  return list;
}

function splitWords(words: string): string[] {
  return words.split(/\s+/).filter((word) => word !== '');
}

/** The longest entry with which a word begins decides: `dissatisf*` before `dis*`. */
function findFeeling(word: string, values: ReadonlyMap<string, number>): number {
  const exact = values.get(word);
  if (exact !== undefined) return exact;
  for (let length = Math.min(word.length, longestEntry); length >= shortestStem; length -= 1) {
    const value = values.get(`${word.slice(0, length)}*`);
    if (value !== undefined) return value;
  }
  return 0;
}

const shortestStem = 3;
const longestEntry = 20;
