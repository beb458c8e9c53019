import { expect, test } from 'vitest';
import { brokenReferences } from './source-references.ts';

const headings = () => new Set(['Errors', 'Idempotency keys']);
const brokenIn = (text: string) => brokenReferences('a.ts', text, headings).map(({ line, text }) => [line, text]);

test('accepts sources that exist: one or several, on one line or several', () => {
  expect(brokenIn('/** Reads. Source: docs/reference/api.md, Errors. */')).toEqual([]);
  expect(
    brokenIn(' * Source: docs/reference/api.md, Errors;\n * docs/reference/api.md, Idempotency keys; RFC 9457.\n'),
  ).toEqual([]);
});

test.each([
  [
    'a heading that does not exist',
    '/** Source: docs/reference/api.md, Mistakes. */',
    'docs/reference/api.md, Mistakes',
  ],
  ['a file that does not exist', '// Source: docs/reference/nothing.md, Errors.', 'docs/reference/nothing.md, Errors'],
  ['a text that is no source', '/** Source: the wiki. */', 'the wiki'],
  ['a document without its folder', '// See guarantees.md.', '// See guarantees.md.'],
  ['a decision that does not exist', '// docs/decisions/9999 says why.', 'docs/decisions/9999'],
])('reports %s', (_, text, found) => {
  expect(brokenIn(`first\n${text}`)).toEqual([[2, found]]);
});
