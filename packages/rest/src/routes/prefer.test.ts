import { expect, test } from 'vitest';
import { prefers } from './prefer.ts';

test.each([
  'respond-async',
  'Respond-Async',
  'respond-async, wait=10',
  'return=minimal,respond-async',
  'wait=10 , respond-async ; foo=bar',
  'a="x, \\"y", respond-async',
])('finds the preference in %j', (header) => {
  expect(prefers(header, 'respond-async')).toBe(true);
});

test.each([
  undefined,
  '',
  'return=minimal',
  'respond-async=false',
  'respond-asynchronously',
  'wait=10; respond-async',
  'a="x, respond-async, y"',
  'a="x, respond-async',
])('does not find the preference in %j', (header) => {
  expect(prefers(header, 'respond-async')).toBe(false);
});
