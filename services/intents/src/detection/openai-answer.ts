import { type Schema, Validator } from '@cfworker/json-schema';
import { cutChars } from '@ticketing/runtime/cut-text.ts';
import type { Findings } from './keywords.ts';
import { DetectionFailure } from './provider.ts';

/** A longer summary is cut. */
export const maxSummaryChars = 2000;

/**
 * A longer answer is not read: its check would block the process. An answer with all tags has some 8,000 characters.
 */
export const maxAnswerChars = 32_768;

/** Tags and spam with a lower confidence are not used: a ticket that is taken for spam leaves the queue. */
export const minCertainty = 0.5;

/** The JSON Schema of answers. It is sent to the endpoint, and then checked here, because endpoints may ignore it. */
export type AnswerSchema = Schema & { [keyword: string]: unknown };

/** An answer that fits the schema. */
interface Answer {
  language: string;
  sentiment: 'positive' | 'neutral' | 'negative';
  summary: string;
  spam: { isSpam: boolean; confidence: number };
  tags?: { id: string; confidence: number }[];
}

/** Returns the schema of an answer which may name only these tags. Every member is required, as `strict` demands. */
export function answerSchema(tagIds: readonly number[]): AnswerSchema {
  const confidence = { type: 'number', minimum: 0, maximum: 1 };
  return closed({
    language: { type: 'string' },
    sentiment: { type: 'string', enum: ['positive', 'neutral', 'negative'] },
    summary: { type: 'string' },
    spam: closed({ isSpam: { type: 'boolean' }, confidence }),
    // An enum cannot be empty.
    ...(tagIds.length === 0
      ? {}
      : {
          tags: {
            type: 'array',
            items: closed({ id: { type: 'string', enum: tagIds.map(String) }, confidence }),
            maxItems: tagIds.length,
          },
        }),
  });
}

function closed(properties: Record<string, object>): AnswerSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/**
 * Reads the text of an answer. An answer that does not fit the schema in every part is not used at all.
 *
 * Errors: DetectionFailure invalid_answer, which does not repeat the answer.
 */
export function readAnswer(text: string, schema: AnswerSchema): Findings {
  if (text.length > maxAnswerChars) throw new DetectionFailure('invalid_answer', { facts: 'too long' });
  const answer = parseJson(text);
  if (!new Validator(schema, '2020-12').validate(answer).valid) throw new DetectionFailure('invalid_answer');
  const { language, sentiment, summary, spam, tags = [] } = answer as Answer;
  // A tag that is named twice counts with the higher confidence.
  const best = new Map<number, number>();
  for (const { id, confidence } of tags.filter(isCertain)) {
    best.set(Number(id), Math.max(confidence, best.get(Number(id)) ?? 0));
  }
  return {
    languageCode: parseLanguage(language),
    sentiment,
    summary: plainText(summary),
    spam: spam.isSpam && !isCertain(spam) ? null : { isSpam: spam.isSpam, confidence: spam.confidence },
    tags: [...best]
      .map(([label, confidence]) => ({ label, confidence }))
      .sort((left, right) => right.confidence - left.confidence || left.label - right.label),
  };
}

function isCertain({ confidence }: { confidence: number }): boolean {
  return confidence >= minCertainty;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DetectionFailure('invalid_answer', { facts: 'no JSON' });
  }
}

const languages = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/** Returns null for an invalid code: the language is not known. */
function parseLanguage(code: string): string | null {
  const lower = code.toLowerCase();
  return /^[a-z]{2}$/.test(lower) && languages.of(lower) !== undefined ? lower : null;
}

/** Returns a text on one line, without characters that change how others are shown. */
function plainText(text: string): string | null {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return line === '' ? null : cutChars(line, maxSummaryChars);
}
