import type { DomainError } from '@ticketing/errors/domain-error.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../test/arbitrary-text.ts';
import { parseQuery } from './query.ts';

const plain = (text: string) => JSON.parse(JSON.stringify(parseQuery(text)));

function refusal(text: string): DomainError {
  try {
    parseQuery(text);
  } catch (error) {
    return error as DomainError;
  }
  throw new Error(`${text} was accepted`);
}

test.each([
  ['', {}],
  ['limit=5&offset=0', { limit: '5', offset: '0' }],
  ['q=a%20b+c%2Bd', { q: 'a b c+d' }],
  ['q=', { q: '' }],
  ['q', { q: '' }],
  ['q=a=b', { q: 'a=b' }],
  ['q=%5Ba%5D=b', { q: '[a]=b' }],
  ['q=[a]=b&x=1', { q: '[a]=b', x: '1' }],
  ['q=%26%3D%25', { q: '&=%' }],
  ['q=%C3%A4', { q: 'ä' }],
  ['&&a=1&', { a: '1' }],
  [
    'filters[0][key]=t.id&filters[0][comparator]=in&filters[0][values][]=1&filters[0][values][]=2',
    {
      filters: [{ key: 't.id', comparator: 'in', values: ['1', '2'] }],
    },
  ],
  ['filters%5B0%5D%5Bkey%5D=a&filters%5B1%5D%5Bkey%5D=b', { filters: [{ key: 'a' }, { key: 'b' }] }],
  ['filters[1][key]=b&filters[0][key]=a', { filters: [{ key: 'a' }, { key: 'b' }] }],
])('reads %s', (text, expected) => {
  expect(plain(text)).toEqual(expected);
});

test('makes a list of a name that is given twice', () => {
  expect(plain('q=1&q=2')).toEqual({ q: ['1', '2'] });
});

test.each([
  '__proto__=1',
  '__proto__[a]=1',
  '[__proto__]=1',
  'filters[__proto__][a]=1',
  '%5F_proto__=1',
  '=1',
  '=',
  'a[constructor][prototype][x]=1',
  'toString=1',
])('drops no name silently: %s', (text) => {
  expect(Object.keys(parseQuery(text)).length).toBeGreaterThan(0);
  expect(({} as Record<string, unknown>).x).toBeUndefined();
});

test('returns objects without a prototype', () => {
  expect(Object.getPrototypeOf(parseQuery(''))).toBeNull();
  expect(Object.getPrototypeOf(parseQuery('a[b]=1').a)).toBeNull();
});

test.each([
  ['text that is not UTF-8', 'q=%FF'],
  ['a broken escape', 'q=%zz'],
  ['an escape that ends early', 'q=%'],
  ['more than 1,000 parameters', Array.from({ length: 1001 }, (_, index) => `a${index}=1`).join('&')],
  ['nesting beyond 5', 'a[b][c][d][e][f][g]=1'],
  ['an index beyond 999', 'filters[1000][key]=1'],
  ['a list longer than 1,000', Array.from({ length: 1001 }, () => 'a=1').join('&')],
])('refuses %s', (_, text) => {
  const error = refusal(text);
  expect(error.code).toBe('invalid_argument');
  expect(error.reason).toBe('invalid_query');
  expect(error.violations.map(({ pointer }) => pointer)).toEqual(['#/query']);
});

test('accepts 1,000 parameters and nesting of 5', () => {
  expect(Object.keys(parseQuery(Array.from({ length: 1000 }, (_, index) => `a${index}=1`).join('&')))).toHaveLength(
    1000,
  );
  expect(plain('a[b][c][d][e][f]=1')).toEqual({ a: { b: { c: { d: { e: { f: '1' } } } } } });
});

test('reads every escaped text unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      expect(parseQuery(`q=${encodeURIComponent(text)}`).q).toBe(text);
      expect(parseQuery(new URLSearchParams({ q: text }).toString()).q).toBe(text);
    }),
  );
});

test('returns or refuses every name, and never drops one', () => {
  const part = fc.constantFrom('a', '[', ']', '__proto__', '=', '0', '1', '.', '%5B', '+', '&', 'toString');
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 12 }), (parts) => {
      const text = parts.join('');
      fc.pre(/[^&]/.test(text));
      let keys: string[];
      try {
        keys = Object.keys(parseQuery(text));
      } catch (error) {
        expect((error as DomainError).reason).toBe('invalid_query');
        return;
      }
      expect([text, keys.length > 0]).toEqual([text, true]);
    }),
    { numRuns: 2000 },
  );
});
