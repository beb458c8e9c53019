import { withinCpuTime } from '@ticketing/testkit/machine-limits.ts';
import { expect, test } from 'vitest';
import { cleanText, escapedText } from './clean-text.ts';
import { maxTextWords } from './search-words.ts';

const mebi = 1024 * 1024;
const filledBy = (part: string) => part.repeat(Math.floor(mebi / part.length));

test.each([
  ['tags that do not end', filledBy('<a href="')],
  ['tags with attributes', filledBy('<a href=x>')],
  ['comments that do not end', filledBy('<!--')],
  ['links', filledBy('[x](javascript:a) ')],
  ['brackets', filledBy('](')],
  ['spaces', `](${filledBy(' ')}`],
  ['parentheses', `](${filledBy('(')}`],
  ['empty parentheses', `](${filledBy('()')}`],
  ['nested elements', `<p>${filledBy('<div>')}>`],
  ['references', filledBy('&#58;')],
  ['one word', filledBy('ü')],
  ['Korean', filledBy('한')],
  // guarantee: I8
])('1 MiB of %s takes a fraction of the time that a worker has', async (_name, text) => {
  await withinCpuTime(5_000, () => cleanText(text));
});

test('the words of a text are those that are shown', () => {
  const { textWords } = cleanText('<p class="geheim">Größe &amp; <b>Maß</b></p> <script>boese()</script>');
  expect(textWords).toEqual(['grosse', 'mass', 'groesse']);
  expect(escapedText('a <b>').textWords).toEqual(['a', 'b']);
});

test('10,000 words of a text are found', () => {
  const words = Array.from({ length: maxTextWords + 1 }, (_, index) => `w${index}`);
  const { textWords } = cleanText(words.join(' '));
  expect([textWords.length, textWords.at(-1)]).toEqual([maxTextWords, `w${maxTextWords - 1}`]);
});
