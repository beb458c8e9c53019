import { type Classes, classify } from '../learning/classify.ts';
import { extractWordFeatures } from '../learning/features.ts';
import type { Model } from '../learning/model.ts';
import { readText, type TicketText } from '../learning/ticket-text.ts';
import { findKeywords } from './keywords.ts';
import { detectLanguage, type Language } from './language.ts';
import { findSentiment, type Sentiment } from './sentiment.ts';
import { summarise } from './summary.ts';

/** The findings of an analysis in the text of a ticket. */
export interface Analysis extends Classes {
  /** The language; null if there is too little text. */
  language: Language | null;
  /** Null for languages without a list of sentiment words. */
  sentiment: Sentiment | null;
  /** Sentences of the ticket; null if it has none. */
  summary: string | null;
  /** The keywords that the ticket contains, of those that were searched for. */
  keywords: string[];
}

/**
 * Analyses a ticket with nothing but its text and what was learned from other tickets. It reads the first 1,000
 * characters of the subject and 20,000 of the body, and takes time linear in them.
 */
export function analyse(text: TicketText, model: Model, keywords: readonly string[] = []): Analysis {
  const { subject, body, words } = readText(text);
  const language = detectLanguage(`${body}\n${subject}`);
  const code = language?.code ?? null;
  return {
    language,
    sentiment: findSentiment(words, code),
    summary: summarise(subject, body, code),
    keywords: findKeywords(words, keywords),
    ...classify(extractWordFeatures(words), model),
  };
}
