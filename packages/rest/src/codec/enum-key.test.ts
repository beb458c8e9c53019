import { PrioritySchema } from '@ticketing/contracts/ticketing/tickets/v1/enums_pb.ts';
import { expect, test } from 'vitest';
import { enumKey, rankKey } from './enum-key.ts';

test('an enum key reads a spelling as itself', () => {
  const { kind, spellings } = enumKey(PrioritySchema);
  expect(kind).toBe('enum');
  expect([...(spellings ?? [])]).toEqual([
    ['low', 'low'],
    ['medium', 'medium'],
    ['high', 'high'],
    ['urgent', 'urgent'],
  ]);
});

test('a rank key reads a spelling as its number', () => {
  const { kind, spellings } = rankKey(PrioritySchema);
  expect(kind).toBe('enum');
  expect([...(spellings ?? [])]).toEqual([
    ['low', 1],
    ['medium', 2],
    ['high', 3],
    ['urgent', 4],
  ]);
});
