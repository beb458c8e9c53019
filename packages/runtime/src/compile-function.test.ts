import { expect, test } from 'vitest';
import { compileFunction } from './compile-function.ts';

test('a compiled function can use the given values, but no local variables', () => {
  const add = compileFunction<(number: number) => number>('(number) => number + step', { step: 3 });
  expect(add(4)).toBe(7);
  const local = 1;
  expect(() => compileFunction<() => unknown>('() => local', {})()).toThrow(ReferenceError);
  expect(local).toBe(1);
});
