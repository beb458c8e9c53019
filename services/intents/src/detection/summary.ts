import { wordSequence } from '@ticketing/text/words.ts';

/** The most characters of a summary. */
export const maxSummaryChars = 300;
const maxSentences = 2;
/** A shorter sentence is a greeting or a closing. */
const minWords = 4;
/** Only the beginning is read: it says what a ticket is about. */
const maxReadChars = 4000;
/** Shorter words say little in any language. */
const minLetters = 4;
/** The second sentence counts less than the first by this factor plus one, and so on. */
const fade = 0.6;

interface Sentence {
  text: string;
  position: number;
  words: ReadonlySet<string>;
}

/**
 * Chooses the sentences of a text that have the most in common with its subject and with the other sentences.
 *
 * Shape: at most two sentences in their order, on one line, at most `maxSummaryChars` characters; null for a text
 * without words. A sentence that is too long is cut.
 */
export function summarise(subject: string, body: string, language: string | null): string | null {
  const sentences = splitSentences(body, language);
  const weights = weighWords(sentences, longWords(wordSequence(subject, subject.length).split(' ')));
  const ranked = sentences
    .map((sentence) => ({ sentence, score: scoreSentence(sentence, weights) }))
    .sort((left, right) => right.score - left.score || left.sentence.position - right.sentence.position);
  const chosen: Sentence[] = [];
  for (const { sentence } of ranked) {
    const length = chosen.reduce((sum, { text }) => sum + text.length + 1, sentence.text.length);
    if (chosen.length < maxSentences && (chosen.length === 0 || length <= maxSummaryChars)) chosen.push(sentence);
  }
  const text = chosen
    .sort((left, right) => left.position - right.position)
    .map((sentence) => sentence.text)
    .join(' ');
  return shortened(text || oneLine(body.slice(0, maxReadChars)) || oneLine(subject));
}

function splitSentences(body: string, language: string | null): Sentence[] {
  const segmenter = new Intl.Segmenter(language ?? undefined, { granularity: 'sentence' });
  const sentences: Sentence[] = [];
  for (const paragraph of body.slice(0, maxReadChars).split(/\n\s*\n|\n(?=\s*[-*•>])/)) {
    for (const { segment } of segmenter.segment(oneLine(paragraph))) {
      const all = wordSequence(segment, segment.length).trim().split(' ');
      if (all.length < minWords) continue;
      sentences.push({ text: segment.trim(), position: sentences.length, words: longWords(all) });
    }
  }
  return sentences;
}

/** Weighs each word by the number of other sentences with it, and higher if it is in the subject. */
function weighWords(sentences: readonly Sentence[], subject: ReadonlySet<string>): Map<string, number> {
  const weights = new Map<string, number>();
  for (const { words } of sentences) {
    for (const word of words) weights.set(word, (weights.get(word) ?? firstWeight(subject.has(word))) + 1);
  }
  return weights;
}

/** A word that occurs only once says little, unless it is in the subject. */
function firstWeight(isInSubject: boolean): number {
  return (isInSubject ? 2 : 0) - 0.7;
}

function scoreSentence({ words, position }: Sentence, weights: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const word of words) sum += weights.get(word) ?? 0;
  return sum / Math.sqrt(words.size + 5) / (1 + fade * position);
}

function longWords(words: readonly string[]): Set<string> {
  return new Set(words.filter((word) => word.length >= minLetters));
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function shortened(text: string): string | null {
  if (text.length <= maxSummaryChars) return text === '' ? null : text;
  const cut = text.slice(0, maxSummaryChars - 1);
  const end = cut.lastIndexOf(' ');
  // A text without spaces is cut anywhere, but not within a character.
  return `${(end > 0 ? cut.slice(0, end) : cut).replace(/[\ud800-\udbff]$/, '')}…`;
}
