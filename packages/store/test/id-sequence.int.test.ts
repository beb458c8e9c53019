import { randomUUID } from 'node:crypto';
import mongoose, { type Connection } from 'mongoose';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { idSequence } from '../src/id-sequence.ts';

let connection: Connection;
beforeAll(async () => {
  const dbName = `test_${randomUUID().slice(0, 8)}`;
  connection = await mongoose.createConnection(inject('mongodbUri'), { dbName }).asPromise();
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

test('a released id is handed out again only if it is the last one and was reserved a moment ago', async () => {
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

test('several sequences at once hand out each id once', async () => {
  const sequences = Array.from({ length: 3 }, () => idSequence(connection, 'shared'));
  const ids = await Promise.all(Array.from({ length: 300 }, (_, index) => sequences[index % 3]?.next()));
  expect(new Set(ids).size).toBe(300);
});
