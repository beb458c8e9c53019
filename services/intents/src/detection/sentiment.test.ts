import { expect, test } from 'vitest';
import { readText } from '../learning/ticket-text.ts';
import { findSentiment } from './sentiment.ts';

const of = (text: string, language: string | null = 'en') =>
  findSentiment(readText({ subject: null, body: text }).words, language);

test.each([
  ['positive', 'en', 'The agent was friendly and competent.'],
  ['negative', 'en', 'This is unacceptable.'],
  ['neutral', 'en', 'The server reports error 502.'],
  ['negative', 'de', 'Ich bin entTÄUSCHT!'],
  ['positive', 'es', 'Estoy encantada.'],
  ['negative', 'pt', 'Isto é uma vergonha.'],
  ['negative', 'fr', "C'est inadmissible."],
])('finds a %s text in %s', (label, language, text) => {
  expect(of(text, language)?.label).toBe(label);
});

test('a negation turns the next three words round, and not the fourth', () => {
  expect(of('I am not a really happy')?.label).toBe('negative');
  expect(of('I am not a very really happy')?.label).toBe('positive');
});

test('thanks and formulas of politeness are no feeling', () => {
  expect(of('Thank you, I appreciate it')?.label).toBe('neutral');
  expect(of('Thanks in advance, best regards')).toEqual({ label: 'neutral', score: 0 });
  expect(of('Vielen Dank im Voraus und mit freundlichen Grüßen', 'de')).toEqual({ label: 'neutral', score: 0 });
});

test('the score grows with the feeling, and stays between -1 and 1', () => {
  const scores = [1, 2, 10, 1000].map((count) => of('horrible '.repeat(count))?.score ?? 0);
  expect(scores).toEqual(scores.toSorted((left, right) => right - left));
  expect(scores[0]).toBeCloseTo(-1 / 3, 5);
  expect(scores.at(-1)).toBeGreaterThan(-1);
});

test('is not known without a language, or in one without words', () => {
  expect(of('This is unacceptable.', null)).toBeNull();
  expect(of('Это недопустимо.', 'ru')).toBeNull();
});
