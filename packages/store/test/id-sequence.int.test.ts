import { testDatabase } from '@ticketing/testkit/test-database.ts';
import type { Connection } from 'mongoose';
import { beforeAll, expect, test } from 'vitest';
import { idSequence } from '../src/ids/id-sequence.ts';

let connection: Connection;
beforeAll(async () => {
  connection = await testDatabase();
});

test('a released id is handed out again only if it is the last one and was reserved less than 100 ms ago', async () => {
  let now = 1_000;
  const ids = idSequence(connection, 'thing', () => now);
  const first = await ids.next();
  ids.release(first);
  expect(await ids.next()).toBe(first);
  now += 150;
  ids.release(first);
  expect(await ids.next()).toBe(first + 1);
  const third = await ids.next();
  ids.release(first + 1);
  expect(await ids.next()).toBe(third + 1);
});

test('several sequences at once hand out each id once, also while they make their counter', async () => {
  for (let round = 0; round < 20; round += 1) {
    const sequences = Array.from({ length: 3 }, () => idSequence(connection, `shared${round}`));
    const ids = await Promise.all(Array.from({ length: 30 }, (_, index) => sequences[index % 3]?.next()));
    expect(new Set(ids).size).toBe(30);
  }
});
