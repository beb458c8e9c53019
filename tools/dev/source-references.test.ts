import { expect, test } from 'vitest';
import { brokenReferences } from './source-references.ts';

const headings = () => new Set(['Errors', 'Idempotency keys']);
const brokenIn = (text: string) => brokenReferences('a.ts', text, headings).map(({ line, text }) => [line, text]);

test('sources that exist are fine, on one line or several, one or many', () => {
  expect(brokenIn('/** Reads. Source: docs/reference/api.md, Errors. */')).toEqual([]);
  expect(
    brokenIn(' * Source: docs/reference/api.md, Errors;\n * docs/reference/api.md, Idempotency keys; RFC 9457.\n'),
  ).toEqual([]);
});

test.each([
  ['a heading that is not there', '/** Source: docs/reference/api.md, Mistakes. */', 'docs/reference/api.md, Mistakes'],
  ['a file that is not there', '// Source: docs/reference/nothing.md, Errors.', 'docs/reference/nothing.md, Errors'],
  ['something that is no source', '/** Source: the wiki. */', 'the wiki'],
  ['a document of elsewhere', '// See guarantees.md.', '// See guarantees.md.'],
  ['a decision that was never made', '// docs/decisions/9999 says why.', 'docs/decisions/9999'],
])('finds %s', (_, text, found) => {
  expect(brokenIn(`first\n${text}`)).toEqual([[2, found]]);
});
