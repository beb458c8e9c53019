import { expect, test } from 'vitest';
import { maxSummaryChars, summarise } from './summary.ts';

test('chooses the sentences that have most in common with the subject and the rest, in their order', () => {
  const body = [
    'Dear team,',
    '',
    'I hope that this finds you all well today.',
    'Since Monday the router in our office loses its wireless connection every hour.',
    'My colleague Jim likes football and music.',
    'Restarting the router restores the wireless connection for some minutes.',
    'Kind regards',
  ].join('\n');
  expect(summarise('Router loses connection', body, 'en')).toBe(
    'Since Monday the router in our office loses its wireless connection every hour. Restarting the router restores the wireless connection for some minutes.',
  );
});

test('leaves out greetings, and is on one line', () => {
  expect(summarise('', 'Hello there!\nThe printer shows\nan error since today.', 'en')).toBe(
    'The printer shows an error since today.',
  );
});

test('a short text is its own summary, and without a body it is the subject', () => {
  expect(summarise('Offline', 'Help me!', 'en')).toBe('Help me!');
  expect(summarise('Where is it?', '', 'en')).toBe('Where is it?');
  expect(summarise('', ' \n ', null)).toBeNull();
});

test('a sentence of 300 characters is whole, a longer one is cut between words', () => {
  const words = (length: number) => `${'word '.repeat(80)}`.slice(0, length - 1).replace(/ $/, 'x');
  expect(summarise('', `${words(maxSummaryChars)}.`, 'en')).toHaveLength(maxSummaryChars);
  const cut = summarise('', `${words(maxSummaryChars + 1)}.`, 'en') ?? '';
  expect(cut.length).toBeLessThanOrEqual(maxSummaryChars);
  expect(cut).toMatch(/word…$/);
});

test('a text without spaces is cut, but not within a character', () => {
  const cut = summarise('', `a${'😀'.repeat(500)}`, null) ?? '';
  expect(cut.length).toBeLessThanOrEqual(maxSummaryChars);
  expect(cut.isWellFormed()).toBe(true);
});
