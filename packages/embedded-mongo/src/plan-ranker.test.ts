import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { startEmbeddedMongo } from './embedded-mongo.ts';
import { currentPlatform, unsupportedReason } from './platform.ts';

const isUnsupported = unsupportedReason(currentPlatform()) !== undefined;

test.skipIf(isUnsupported)('executes a query whose candidate plans all find nothing in their trial', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'plan-ranker-'));
  const server = await startEmbeddedMongo({ dataDir });
  const client = await new MongoClient(server.uri).connect();
  try {
    const things = client.db('test').collection<{ _id: number; s: string; a: number }>('things');
    await things.insertMany(
      Array.from({ length: 30_000 }, (_, id) => ({ _id: id, s: id % 3 === 0 ? 'o' : 'c', a: id })),
    );
    await things.createIndexes([{ key: { s: 1, _id: 1 } }, { key: { s: 1, a: 1, _id: 1 } }]);
    expect(await things.find({ s: 'c' }).sort({ _id: 1 }).skip(15_000).limit(1).toArray()).toHaveLength(1);
    expect(
      await things
        .find({ s: 'c', b: 9 } as object)
        .sort({ _id: 1 })
        .toArray(),
    ).toEqual([]);
  } finally {
    await client.close();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
