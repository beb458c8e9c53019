import { likePattern } from '@ticketing/store/document/field-query.ts';
import { expect, test } from 'vitest';
import { filterKeys } from '../rules/keys.ts';
import { compileConditions, documentField } from './filter-query.ts';

test.each([
  ['', '^\\z'],
  ['a', '^a\\z'],
  ['%', '^'],
  ['%%', '^'],
  ['a%', '^a'],
  ['%a', '^.*a\\z'],
  ['%a%', '^(?>.*?a)'],
  ['a%b%c', '^a(?>.*?b).*c\\z'],
  ['a.b*', '^a\\.b\\*\\z'],
  ['(?i)[x]{2}|^$\\', '^\\(\\?i\\)\\[x\\]\\{2\\}\\|\\^\\$\\\\\\z'],
  ['a\0%', '^a\\x00'],
])('the pattern of like %j is %s', (pattern, expected) => {
  expect(likePattern(pattern)).toBe(expected);
});

// spec: 20.6
const context = { now: 0, defaultCountry: null };

test('every key but q and t.isCustomerActive compares a field of the document', () => {
  const fields = [...filterKeys.keys()].filter((key) => key !== 'q').map(documentField);
  expect(new Set(fields).size).toBe(fields.length);
  expect(documentField('t.id')).toBe('_id');
});

test('a text without words matches nothing', () => {
  expect(compileConditions([{ key: 'q', operator: 'in', values: ['!?'], orUnset: false }], context)).toEqual([
    { _id: { $in: [] } },
  ]);
});

test('the token of a mail is that of its ticket, also among words', () => {
  const compile = (text: string) =>
    compileConditions([{ key: 'q', operator: 'in', values: [text], orUnset: false }], context);
  const ticket = { _id: 91, deletedAt: null };
  expect(compile('[#91-k3f9x2ab]')).toEqual([ticket]);
  const [first, ...words] = compile('Re: a [#91-k3f9x2ab]');
  expect([first, words.length]).toEqual([ticket, 2]);
  expect(words).toMatchObject([{ $or: [{ words: 're' }, {}, {}] }, { $or: [{ words: 'a' }, {}, {}] }]);
});

// guarantee: I1
// asvs: 1.2.4, 1.2.9
test('a query contains values of the request only as literals', () => {
  const [query] = compileConditions(
    [{ key: 't.subject', operator: 'in', values: ['$gt', '{"$ne":1}'], orUnset: true }],
    context,
  );
  expect(query).toEqual({ subject: { $in: ['$gt', '{"$ne":1}', null] } });
});
