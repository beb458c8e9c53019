import fc from 'fast-check';
import { expect, test } from 'vitest';
import { looksLikeFormula } from './formula.ts';

test.each([
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t',
  '\r',
  '\tplain',
  '\rplain',
  '\n\tplain',
  '＝1',
  '＋1',
  '－1',
  '＠SUM(A1)',
  '−1',
  ' =1',
  '\n=1',
  '\r\n=1',
  '\u00a0=1',
  '\u0085=1',
  '\u2003=1',
  '\u2028=1',
  '\u3000=1',
  '\ufeff=1',
  '\u200b=1',
  '\u200d\u2060=1',
  '\u0000=1',
  ' \ufeff \u200b+1',
  '=',
  ';=1',
  ',=1',
  '|=1',
  ' ; , +1',
  ';＝1',
  '|',
  '|x',
  ' |x',
  ';|x',
])('%j could be a formula', (text) => {
  expect(looksLikeFormula(text)).toBe(true);
});

test.each([
  '',
  ' ',
  '\n',
  'plain',
  ' plain',
  '\nplain',
  "'=1",
  '"=1"',
  '1=1',
  'a@b.example',
  '(=1)',
  '–1',
  '—1',
  '1-1',
  'plain\n=1',
  'plain\r\n\t=1',
  '➕1',
  ';',
  ';x',
  ', x',
  'x;=1',
  'x|y',
])('%j is not a formula', (text) => {
  expect(looksLikeFormula(text)).toBe(false);
});

test('the first visible character that splits no cells decides, and so does a tab, a carriage return or a vertical bar before it', () => {
  const blank = fc.constantFrom(' ', '\n', '\t', '\r', '\u00a0', '\u2009', '\u3000', '\ufeff', '\u200b', ';', ',', '|');
  const start = fc.constantFrom(...'=+-@＝＋－＠−', 'a', "'", '1', '');
  fc.assert(
    fc.property(fc.array(blank), start, fc.string(), (blanks, first, rest) => {
      const expected = /[\t\r|]/.test(blanks.join('')) || /[=+\-@＝＋－＠−]/.test(first);
      const tail = first === '' ? '' : rest;
      expect(looksLikeFormula(blanks.join('') + first + tail)).toBe(expected);
    }),
  );
});

test('needs linear time for hostile texts', () => {
  const started = performance.now();
  for (const blank of [' ', '\n', '\u200b', ' \ufeff', ';', ', ']) looksLikeFormula(`${blank.repeat(1_000_000)}x`);
  expect(performance.now() - started).toBeLessThan(1000);
});
