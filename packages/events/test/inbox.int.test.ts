import { randomUUID } from 'node:crypto';
import type { DomainError } from '@ticketing/errors/domain-error.ts';
import mongoose, { type Connection } from 'mongoose';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { buildInboxIndex, openInbox, removeOldFromInbox } from '../src/inbox/inbox.ts';

let connection: Connection;

beforeAll(async () => {
  const dbName = `test_${randomUUID().slice(0, 8)}`;
  connection = await mongoose.createConnection(inject('mongodbUri'), { dbName }).asPromise();
  await buildInboxIndex(connection);
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

const newEvent = () => ({ id: `evt_${randomUUID()}` });

test('an event has its effect once, however often it is delivered', async () => {
  const event = newEvent();
  let effects = 0;
  const effect = async () => void effects++;
  const inbox = openInbox(connection, 'mail');
  expect(await inbox.once(event, effect)).toBe(true);
  for (let time = 0; time < 3; time++) expect(await inbox.once(event, effect)).toBe(false);
  expect(await openInbox(connection, 'mail').once(event, effect)).toBe(false);
  expect(effects).toBe(1);
});

test('an event has its effect once for each group', async () => {
  const event = newEvent();
  const had: string[] = [];
  for (const group of ['mail', 'webhook', 'mail']) {
    await openInbox(connection, group).once(event, async () => void had.push(group));
  }
  expect(had).toEqual(['mail', 'webhook']);
});

test('if many claim an effect concurrently, one runs it and the others get a transient error', async () => {
  const event = newEvent();
  const others = 19;
  const allRefused = Promise.withResolvers<void>();
  const refusals: unknown[] = [];
  let effects = 0;
  const effect = async () => {
    effects += 1;
    await allRefused.promise;
  };
  const run = async () => {
    try {
      return await openInbox(connection, 'mail').once(event, effect);
    } catch (error) {
      if (refusals.push((error as DomainError).reason) === others) allRefused.resolve();
      return false;
    }
  };
  const outcomes = await Promise.all(Array.from({ length: others + 1 }, run));
  expect(effects).toBe(1);
  expect(outcomes.filter(Boolean)).toHaveLength(1);
  expect(refusals).toEqual(Array.from({ length: others }, () => 'event_in_hand'));
});

test('an effect that fails may be run again at once', async () => {
  const event = newEvent();
  const inbox = openInbox(connection, 'mail');
  await expect(inbox.once(event, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(await inbox.once(event, async () => undefined)).toBe(true);
});

test('an effect whose process died runs again when the lease has expired, and not before', async () => {
  const event = newEvent();
  let now = Date.now();
  let effects = 0;
  const effect = async () => void effects++;
  const begun = Promise.withResolvers<void>();
  void openInbox(connection, 'mail', () => now).once(event, () => {
    begun.resolve();
    return new Promise(() => undefined);
  });
  await begun.promise;
  const other = openInbox(connection, 'mail', () => now);
  now += 59_000;
  await expect(other.once(event, effect)).rejects.toMatchObject({ reason: 'event_in_hand' });
  now += 2_000;
  expect(await other.once(event, effect)).toBe(true);
  expect(await other.once(event, effect)).toBe(false);
  expect(effects).toBe(1);
});

test('an effect that fails after its lease has expired does not undo the run of the next owner', async () => {
  const event = newEvent();
  let now = Date.now();
  const failing = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const late = openInbox(connection, 'mail', () => now).once(event, () => {
    begun.resolve();
    return failing.promise;
  });
  await begun.promise;
  now += 61_000;
  const inbox = openInbox(connection, 'mail', () => now);
  expect(await inbox.once(event, async () => undefined)).toBe(true);
  failing.reject(new Error('too late'));
  await expect(late).rejects.toThrow('too late');
  expect(await inbox.once(event, async () => undefined)).toBe(false);
});

test('the record of an effect is removed after 30 days', async () => {
  const event = { id: 'evt_old' };
  let now = Date.now();
  const inbox = openInbox(connection, 'old', () => now);
  await inbox.once(event, async () => undefined);
  now += 29 * 86_400_000;
  await removeOldFromInbox(connection, now);
  expect(await inbox.once(event, async () => undefined)).toBe(false);
  now += 2 * 86_400_000;
  await removeOldFromInbox(connection, now);
  expect(await inbox.once(event, async () => undefined)).toBe(true);
});
