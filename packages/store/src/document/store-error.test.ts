import mongoose, { mongo } from 'mongoose';
import { describe, expect, test } from 'vitest';
import { duplicatesIn, isDuplicateKey, retryUpsert, storeCall, translateTimeLimit } from './store-error.ts';

const serverError = (code: number) => new mongo.MongoServerError({ code, message: `code ${code}` });
/** The error with which the driver wraps the error of a bulk write. */
const bulkError = (error: object) => new mongo.MongoBulkWriteError(error as never, {} as never);
const fails = (error: unknown) => storeCall(() => Promise.reject(error));

describe('an unreachable database', () => {
  test.each([
    ['the connection breaks', new mongo.MongoNetworkError('reset')],
    ['there is no server', new mongo.MongoServerSelectionError('none', {} as mongo.TopologyDescription)],
    ['there is no connection yet', new mongo.MongoNotConnectedError('never')],
    ['mongoose has not reached it yet', new mongoose.Error.MongooseServerSelectionError('none')],
    ['a socket breaks in a write', Object.assign(new Error('ended'), { code: 'EPIPE' })],
    ['a socket breaks in a bulk write', bulkError(Object.assign(new Error('ended'), { code: 'ECONNRESET' }))],
    ['this process is stopping', new mongo.MongoClientClosedError()],
    ['it shuts down', serverError(91)],
    ['it steps down', serverError(189)],
    ['it is no longer the primary', serverError(10_107)],
    ['it interrupts running operations', serverError(11_600)],
    ['the connection breaks in a bulk write', bulkError(new mongo.MongoNetworkError('reset'))],
    ['a bulk write finds no server', bulkError(new mongo.MongoServerSelectionError('none', {} as never))],
  ])('becomes the error store_unavailable if %s', async (_, cause) => {
    await expect(fails(cause)).rejects.toMatchObject({
      code: 'unavailable',
      reason: 'store_unavailable',
      retryAfterSeconds: 1,
      cause,
    });
  });

  test.each([
    ['by its code', serverError(14_031)],
    ['in the words of the system', new mongo.MongoServerError({ code: 8, message: '28: No space left on device' })],
    ['in a bulk write', bulkError({ code: 14_031, message: 'disk full', writeErrors: [] })],
  ])('without space on its disk, said %s, becomes the error storage_full', async (_, cause) => {
    const error = { code: 'unavailable', reason: 'storage_full', retryAfterSeconds: 5, cause };
    await expect(fails(cause)).rejects.toMatchObject(error);
  });

  test('is not the cause of any other error', async () => {
    for (const error of [serverError(11_000), serverError(50), new TypeError('mine')]) {
      await expect(fails(error)).rejects.toBe(error);
    }
  });
});

describe('an upsert', () => {
  test('runs again if another one has inserted the same key at the same moment', async () => {
    let runs = 0;
    const upsert = async () => {
      runs += 1;
      if (runs === 1) throw serverError(11_000);
      return runs;
    };
    expect(await retryUpsert(upsert)).toBe(2);
  });

  test('does not run again for any other error', async () => {
    let runs = 0;
    const upsert = async () => {
      runs += 1;
      throw serverError(50);
    };
    await expect(retryUpsert(upsert)).rejects.toMatchObject({ code: 50 });
    expect(runs).toBe(1);
  });
});

test('recognises the error of a duplicate key', () => {
  expect([serverError(11_000), serverError(1), new Error('x')].map(isDuplicateKey)).toEqual([true, false, false]);
});

test('returns the duplicates of a bulk write only if all its failures are duplicate keys', () => {
  const failed = (...codes: number[]) =>
    bulkError({ message: 'bulk', writeErrors: codes.map((code, index) => ({ code, index: index + 3 })) });
  expect(duplicatesIn(failed(11_000, 11_000))).toEqual([3, 4]);
  expect(duplicatesIn(failed(11_000, 121))).toBeUndefined();
  expect(duplicatesIn(bulkError(new mongo.MongoNetworkError('reset')))).toBeUndefined();
  expect(duplicatesIn(serverError(11_000))).toBeUndefined();
});

test('a read that exceeds its time limit fails with search_too_slow and advice; other errors are unchanged', async () => {
  const slow = { code: 'deadline_exceeded', reason: 'search_too_slow', message: 'Narrow it.' };
  await expect(translateTimeLimit('Narrow it.', () => Promise.reject(serverError(50)))).rejects.toMatchObject(slow);
  await expect(translateTimeLimit('Narrow it.', () => Promise.reject(serverError(51)))).rejects.toMatchObject({
    code: 51,
  });
  expect(await translateTimeLimit('Narrow it.', async () => 7)).toBe(7);
});
