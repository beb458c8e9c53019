import { expect, test } from 'vitest';
import { readDocument } from './read-document.ts';

test('a title is cut at 998 characters, but not within one', () => {
  expect(readDocument(`# ${'a'.repeat(998)}b`, 'markdown', 'x.md').title).toBe('a'.repeat(998));
  expect(readDocument(`# ${'a'.repeat(996)}😀b`, 'markdown', 'x.md').title).toBe(`${'a'.repeat(996)}😀`);
  expect(readDocument(`# ${'a'.repeat(997)}😀`, 'markdown', 'x.md').title).toBe('a'.repeat(997));
});

const readTitle = (content: string) => readDocument(content, 'markdown', 'file.md').title;

test.each([
  ['# A heading', 'A heading'],
  ['text\n\n  ###   A heading  ##  ', 'A heading'],
  ['# C# and F#', 'C# and F#'],
  ['#no heading\n# #\n#\n## Second', 'Second'],
  ['```\n# code\n```\nUnder\n=====', 'Under'],
  ['# [A link](https://example.com) and `code`', 'A link and code'],
])('the title of %j is %j', (content, title) => {
  expect(readTitle(content)).toBe(title);
});
