import { expect, it } from 'vitest';
import { messageIds, ownMessageId } from './message-ids.ts';

it('finds the ids of a header in its order, whatever is between them', () => {
  expect(messageIds('<a@x>  <b@x>\t(comment) <c d@x> text <c@x>,<a@x>')).toEqual(['<a@x>', '<b@x>', '<c@x>', '<a@x>']);
  expect(messageIds('<<a@x>> <b@x')).toEqual(['<a@x>']);
  expect(messageIds('a@x, b@x; (c@x) d@@x e')).toEqual(['<a@x>', '<b@x>']);
  expect(messageIds('< a@x >')).toEqual(['<a@x>']);
  expect(messageIds('&lt;a@x&gt; &LT;b@x&GT;')).toEqual(['<a@x>', '<b@x>']);
  for (const none of ['', 'a', '@x', 'a@', '<', '>', '<>', '<<>>', '> <', '<a\0>'])
    expect(messageIds(none)).toEqual([]);
});

it('returns the last 100 of very many', () => {
  const many = Array.from({ length: 101 }, (_, index) => `<${index}@x>`);
  expect(messageIds(many.slice(1).join(' '))).toEqual(many.slice(1));
  expect(messageIds(many.join(' '))).toEqual(many.slice(1));
});

it('reads the id of a message with and without angle brackets, up to 998 characters', () => {
  expect(ownMessageId(' <a@x> ')).toBe('<a@x>');
  expect(ownMessageId('a@x')).toBe('<a@x>');
  expect(ownMessageId('<a@x>>')).toBe('<a@x>');
  expect(ownMessageId('<<>>')).toBeNull();
  expect(ownMessageId('x y')).toBeNull();
  expect(ownMessageId('')).toBeNull();
  expect(ownMessageId(`<${'a'.repeat(996)}>`)).toHaveLength(998);
  expect(ownMessageId(`<${'a'.repeat(997)}>`)).toBeNull();
});
