import { mongo } from 'mongoose';
import { expect, test } from 'vitest';
import { conflict, retryOnConflict } from './retry-on-conflict.ts';

const runtime = { random: () => 0.01 };
const serverError = (code: number) => new mongo.MongoServerError({ message: 'refused', code });

test('a write is made again as long as it conflicts with others, and no other error is hidden', async () => {
  const errors = [serverError(112), serverError(112)];
  const write = async () => {
    const error = errors.shift();
    if (error) throw error;
    return 'written';
  };
  expect(await retryOnConflict(runtime, 'busy', write)).toBe('written');
  errors.push(serverError(112), serverError(11_000));
  await expect(retryOnConflict(runtime, 'busy', write)).rejects.toMatchObject({ code: 11_000 });
  expect(errors).toEqual([]);
});

test('a write that finds another one before it reads and decides again', async () => {
  let version = 0;
  const results = [conflict, conflict, 'written'] as const;
  const write = async () => results[version++] ?? conflict;
  expect(await retryOnConflict(runtime, 'busy', write)).toBe('written');
  expect(version).toBe(3);
});

test('a write that never comes first fails in the end', async () => {
  let attempts = 0;
  const lose = async () => {
    attempts += 1;
    return conflict;
  };
  const error = { code: 'aborted', reason: 'concurrent_change', message: 'busy' };
  await expect(retryOnConflict({ random: () => 0 }, 'busy', lose)).rejects.toMatchObject(error);
  expect(attempts).toBe(1000);
});
