import mongoose, { mongo } from 'mongoose';
import { describe, expect, test } from 'vitest';
import { duplicatesIn, isDuplicateKey, retryUpsert, storeCall, translateTimeLimit } from './store-error.ts';

const serverError = (code: number) => new mongo.MongoServerError({ code, message: `code ${code}` });
/** As the driver wraps what a bulk write fails with. */
const bulkError = (error: object) => new mongo.MongoBulkWriteError(error as never, {} as never);
const fails = (error: unknown) => storeCall(() => Promise.reject(error));

describe('a database that is away', () => {
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
    ['it is not the primary any more', serverError(10_107)],
    ['it ends what runs', serverError(11_600)],
    ['a bulk write meets that', bulkError(new mongo.MongoNetworkError('reset'))],
    ['a bulk write finds no server', bulkError(new mongo.MongoServerSelectionError('none', {} as never))],
  ])('is answered as such: %s', async (_, cause) => {
    await expect(fails(cause)).rejects.toMatchObject({
      code: 'unavailable',
      reason: 'store_unavailable',
      retryAfterSeconds: 1,
      cause,
    });
  });

  test('is not what any other error means', async () => {
    for (const error of [serverError(11_000), serverError(50), new TypeError('mine')]) {
      await expect(fails(error)).rejects.toBe(error);
    }
  });
});

describe('an upsert', () => {
  test('runs again when another has inserted the same key at the same moment', async () => {
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

test('a duplicate key is told from other errors', () => {
  expect([serverError(11_000), serverError(1), new Error('x')].map(isDuplicateKey)).toEqual([true, false, false]);
});

test('of a bulk write, only failures that are all duplicate keys count as such', () => {
  const failed = (...codes: number[]) =>
    bulkError({ message: 'bulk', writeErrors: codes.map((code, index) => ({ code, index: index + 3 })) });
  expect(duplicatesIn(failed(11_000, 11_000))).toEqual([3, 4]);
  expect(duplicatesIn(failed(11_000, 121))).toBeUndefined();
  expect(duplicatesIn(bulkError(new mongo.MongoNetworkError('reset')))).toBeUndefined();
  expect(duplicatesIn(serverError(11_000))).toBeUndefined();
});

test('a read that takes too long says so, with what helps; any other failure stays what it is', async () => {
  const slow = { code: 'deadline_exceeded', reason: 'search_too_slow', message: 'Narrow it.' };
  await expect(translateTimeLimit('Narrow it.', () => Promise.reject(serverError(50)))).rejects.toMatchObject(slow);
  await expect(translateTimeLimit('Narrow it.', () => Promise.reject(serverError(51)))).rejects.toMatchObject({
    code: 51,
  });
  expect(await translateTimeLimit('Narrow it.', async () => 7)).toBe(7);
});
