import fc from 'fast-check';
import { expect, test } from 'vitest';
import { looksLikeFormula, withoutFormulas } from './formula.ts';

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

// guarantee: I9
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

test.each([
  ['x;=1+1;y', "x;'=1+1;y"],
  ['x,+1', "x,'+1"],
  ['x|-1', "x|'-1"],
  ['x\t@SUM(A1)', "x\t'@SUM(A1)"],
  ['x\n=1', "x\n'=1"],
  ['x\r=1', "x\r'=1"],
  ['x\r\n\r\n=1', "x\r\n\r\n'=1"],
  ['x\u2028=1\u2029=1\u0085=1\v=1\f=1', "x\u2028'=1\u2029'=1\u0085'=1\v'=1\f'=1"],
  ['x; \u00a0\u200b\ufeff\u0000\u{e0001}=1', "x; \u00a0\u200b\ufeff\u0000\u{e0001}'=1"],
  ['x;＝1;＋1;－1;＠1;−1', "x;'＝1;'＋1;'－1;'＠1;'−1"],
  ['x;"=1', `x;"'=1`],
  ['x; " =1', `x; " '=1`],
  ['=1;=2', "'=1;'=2"],
  [';=1', "';'=1"],
  ['\n=1', "'\n'=1"],
  ['\tplain', "'\tplain"],
  ['|x', "'|x"],
  [' -1', "' -1"],
])('before each formula of %j is an apostrophe', (text, expected) => {
  expect(withoutFormulas(text)).toBe(expected);
});

test.each([
  '',
  'plain',
  'a@b.example',
  'x;1=1',
  'x;y=1',
  "x;'=1",
  'well-known, 1-1',
  'x - y',
  'x\r\n\r\ny',
  '(=1)',
  'a | b',
  'x;–1',
])('%j stays as it is', (text) => {
  expect(withoutFormulas(text)).toBe(text);
});

// guarantee: I9
// asvs: 1.2.10
test('no cell starts with a formula, wherever a program splits the text', () => {
  const unit = fc.constantFrom(
    ...';,|\t\r\n\v\f\u0085\u2028\u2029 "\u00a0\u200b=+-@＝＋－＠−a1\'',
    '\u{1f600}',
    '\u{e0001}',
  );
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const written = withoutFormulas(text);
      const [first, ...others] = written.split(/[;,|\t\r\n\v\f\u0085\u2028\u2029]/);
      // The quotes of the text itself are doubled in a file, and the first cell is preceded by a single one.
      expect(first).not.toMatch(/^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠−]/u);
      for (const cell of others) expect(cell).not.toMatch(/^[\s\p{Cc}\p{Cf}"]*[=+\-@＝＋－＠−]/u);
      // Nothing but apostrophes is added.
      expect(written.replaceAll("'", '')).toBe(text.replaceAll("'", ''));
    }),
    { numRuns: 2000 },
  );
});
