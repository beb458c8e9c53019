import { eld } from 'eld/extrasmall';

/** The language of a text. */
export interface Language {
  /** ISO 639-1. */
  code: string;
  confidence: number;
}

/** A text with fewer letters has no language: a name, a number, a word that several languages have. */
const minLetters = 10;

/**
 * The lead of the best language over the next one, and how often a result with this lead was right, on texts of 20 to
 * 400 characters (docs/decisions/0043).
 */
const confidences: readonly (readonly [number, number])[] = [
  [0.2, 0.99],
  [0.1, 0.98],
  [0, 0.88],
];
const unreliable = 0.35;

/** Finds the language of a text. The first 350 bytes decide, so the text should begin with what the customer wrote. */
export function detectLanguage(text: string): Language | null {
  const start = text.slice(0, 1000);
  if ((start.match(/\p{L}/gu)?.length ?? 0) < minLetters) return null;
  const result = eld.detect(start);
  if (result.language === '') return null;
  if (!result.isReliable()) return { code: result.language, confidence: unreliable };
  const [best = 0, next = 0] = Object.values(result.getScores()).sort((left, right) => right - left);
  const lead = (best - next) / best;
  const confidence = confidences.find(([least]) => lead >= least)?.[1] ?? unreliable;
  return { code: result.language, confidence };
}
