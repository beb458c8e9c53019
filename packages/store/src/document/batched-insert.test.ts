import { turns } from '@ticketing/testkit/turns.ts';
import { mongo } from 'mongoose';
import { expect, test } from 'vitest';
import { batchedInsert } from './batched-insert.ts';

/** A collection in memory that records the insert commands that it receives. */
function collectionStub(failure?: Error, firstFailure?: Error) {
  const ids = new Set<number>();
  const commands: number[][] = [];
  const duplicate = (index: number) => ({ index, code: 11_000 }) as mongo.WriteError;
  const insert = async (documents: { _id: number }[]) => {
    commands.push(documents.map(({ _id }) => _id));
    await turns(1);
    if (failure && documents.length > 1) throw failure;
    if (firstFailure && commands.length === 1) throw firstFailure;
    return documents.flatMap(({ _id }, index) => {
      if (ids.has(_id)) return [duplicate(index)];
      ids.add(_id);
      return [];
    });
  };
  const stub = {
    async insertOne(document: { _id: number }) {
      const [error] = await insert([document]);
      if (error) throw new mongo.MongoServerError({ code: 11_000 });
    },
    async insertMany(documents: { _id: number }[]) {
      const writeErrors = await insert(documents);
      if (writeErrors.length > 0) {
        throw new mongo.MongoBulkWriteError({ message: 'duplicate', code: 11_000, writeErrors }, {} as never);
      }
    },
  };
  return { commands, ids, insert: batchedInsert(stub) };
}

test('documents that arrive together are inserted by one command', async () => {
  const { commands, insert } = collectionStub();
  expect(await Promise.all([1, 2, 3, 4].map((_id) => insert({ _id })))).toEqual([true, true, true, true]);
  expect(commands).toEqual([[1, 2, 3, 4]]);
  expect(await insert({ _id: 5 })).toBe(true);
  expect(commands).toHaveLength(2);
});

test('returns false for a document whose key exists, whether inserted alone or with others', async () => {
  const { ids, insert } = collectionStub();
  await insert({ _id: 1 });
  expect(await insert({ _id: 1 })).toBe(false);
  expect(await Promise.all([2, 1, 3, 3].map((_id) => insert({ _id })))).toEqual([true, false, true, false]);
  expect([...ids]).toEqual([1, 2, 3]);
});

test('an unreachable database fails the inserts of a command', async () => {
  const { commands, insert } = collectionStub(undefined, new mongo.MongoNetworkError('reset'));
  const ends = await Promise.allSettled([1, 2, 3].map((_id) => insert({ _id })));
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(commands).toEqual([[1, 2, 3]]);
});

test('a failed command fails the inserts that it contains, and no later ones', async () => {
  const failure = new Error('the server is gone');
  const { insert } = collectionStub(failure);
  const ends = await Promise.allSettled([1, 2, 3].map((_id) => insert({ _id })));
  expect(ends.map((end) => (end.status === 'rejected' ? end.reason : end.value))).toEqual([failure, failure, failure]);
  expect(await insert({ _id: 4 })).toBe(true);
});
