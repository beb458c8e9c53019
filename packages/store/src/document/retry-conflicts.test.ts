import { mongo } from 'mongoose';
import { expect, test } from 'vitest';
import { retryConflicts } from './retry-conflicts.ts';

const random = () => 0.01;
const serverError = (code: number) => new mongo.MongoServerError({ message: 'refused', code });

test('a write is made again as long as it conflicts with others, and no other error is hidden', async () => {
  const errors = [serverError(112), serverError(112)];
  const write = async () => {
    const error = errors.shift();
    if (error) throw error;
    return 'written';
  };
  expect(await retryConflicts(write, { random })).toBe('written');
  errors.push(serverError(112), serverError(11_000));
  await expect(retryConflicts(write, { random })).rejects.toMatchObject({ code: 11_000 });
  expect(errors).toEqual([]);
});
