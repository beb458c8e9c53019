import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type EmbeddedMongo, startEmbeddedMongo } from './embedded-mongo.ts';
import { currentPlatform, unsupportedReason } from './platform.ts';

const durable = { writeConcern: { w: 1, journal: true } } as const;

interface Thing {
  _id: number;
  text?: string;
  bytes?: Buffer;
  count?: number;
}

describe.skipIf(unsupportedReason(currentPlatform()))('startEmbeddedMongo', () => {
  let scratch: string;
  const started: EmbeddedMongo[] = [];
  const clients: MongoClient[] = [];

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'embedded-mongo-'));
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await Promise.all(started.splice(0).map((mongo) => mongo.stop()));
  });
  afterAll(() => rm(scratch, { recursive: true, force: true }));

  async function start(name: string, options: { port?: number; cacheSizeMb?: number } = {}): Promise<EmbeddedMongo> {
    const mongo = await startEmbeddedMongo({ dataDir: join(scratch, name), ...options });
    started.push(mongo);
    return mongo;
  }

  function connectTo({ uri }: EmbeddedMongo, maxPoolSize = 4): MongoClient {
    const client = new MongoClient(uri, { maxPoolSize, serverSelectionTimeoutMS: 5_000 });
    clients.push(client);
    return client;
  }

  function connectThings(mongo: EmbeddedMongo, maxPoolSize?: number) {
    return connectTo(mongo, maxPoolSize).db('shop').collection<Thing>('things');
  }

  it('still has its documents after a stop and a new start', async () => {
    const first = await start('kept');
    expect(first.uri).toMatch(/^mongodb:\/\/127\.0\.0\.1:\d+\/\?directConnection=true&w=1&journal=true$/);
    await connectThings(first).insertOne({ _id: 1, text: 'ünï' }, durable);
    await first.stop();
    expect(await first.exited).toBe(0);
    expect(await connectThings(await start('kept')).findOne({ _id: 1 })).toEqual({ _id: 1, text: 'ünï' });
  });

  it('keeps its files from other users of the machine', async () => {
    const mongo = await start('private');
    await connectThings(mongo).insertOne({ _id: 1, text: 'personal' }, durable);
    const dataDir = join(scratch, 'private');
    const paths = (await readdir(dataDir, { recursive: true })).map((name) => join(dataDir, name));
    expect(paths.length).toBeGreaterThan(5);
    const modes = await Promise.all([dataDir, ...paths].map(async (path) => [path, (await stat(path)).mode & 0o077]));
    expect(modes.filter(([, others]) => others !== 0)).toEqual([]);
  });

  it('supports what the stores use: unique index, upsert, pipeline update, $facet, $lookup, cursor', async () => {
    const things = connectThings(await start('used'));
    await things.insertMany(Array.from({ length: 500 }, (_, index) => ({ _id: index, text: `t${index % 5}` })));
    await things.createIndex({ count: 1 }, { unique: true, partialFilterExpression: { count: { $gt: 0 } } });
    await things.updateOne({ _id: 1 }, [{ $set: { count: { $strLenCP: '$text' } } }]);
    await expect(things.updateOne({ _id: 2 }, { $set: { count: 2 } })).rejects.toMatchObject({ code: 11000 });
    const upsert = { upsert: true, returnDocument: 'after' } as const;
    expect(await things.findOneAndUpdate({ _id: 900 }, { $inc: { count: 9 } }, upsert)).toEqual({ _id: 900, count: 9 });
    const facets = await things
      .aggregate([{ $facet: { total: [{ $count: 'n' }], texts: [{ $group: { _id: '$text' } }] } }])
      .next();
    expect(facets).toMatchObject({ total: [{ n: 501 }], texts: { length: 6 } });
    const lookup = { from: 'things', localField: '_id', foreignField: '_id', as: 'same' };
    const joined = things.aggregate([{ $match: { _id: 3 } }, { $lookup: lookup }]);
    expect(await joined.next()).toMatchObject({ same: [{ _id: 3 }] });
    expect(await things.find().batchSize(50).toArray()).toHaveLength(501);
  });

  it('executes unacknowledged writes', async () => {
    const things = connectThings(await start('unacknowledged'), 1);
    await things.insertOne({ _id: 1 }, { writeConcern: { w: 0 } });
    await vi.waitFor(async () => expect(await things.countDocuments()).toBe(1), { timeout: 30_000 });
  });

  it('accepts documents of 15 MB, and several of them in one message', async () => {
    const things = connectThings(await start('large'));
    await things.insertOne({ _id: 0, bytes: Buffer.alloc(15_000_000, 9) }, durable);
    await things.insertMany([1, 2, 3].map((_id) => ({ _id, bytes: Buffer.alloc(15_000_000, _id) })));
    const found = await things.findOne({ _id: 3 }, { promoteBuffers: true });
    expect(found?.bytes?.equals(Buffer.alloc(15_000_000, 3))).toBe(true);
  });

  it('serves 100 connections at once, each with its own replies', async () => {
    const things = connectThings(await start('parallel'), 100);
    await things.insertMany(Array.from({ length: 100 }, (_, _id) => ({ _id, count: 0 })));
    const rounds = Array.from({ length: 1_000 }, (_, turn) =>
      things.findOneAndUpdate({ _id: turn % 100 }, { $inc: { count: 1 } }, { returnDocument: 'after' }),
    );
    for (const [turn, found] of (await Promise.all(rounds)).entries()) expect(found?._id).toBe(turn % 100);
    expect(await things.countDocuments({ count: 10 })).toBe(100);
  });

  it('closes a connection that sends a malformed frame, and no other', async () => {
    const mongo = await start('bad-frame');
    const things = connectThings(mongo, 1);
    await things.insertOne({ _id: 1 });
    for (const frame of ['GET / HTTP/1.1\r\n\r\n', '\x15\0\0\0\0\0\0\0\0\0\0\0\xdc\x07\0\0\xff\0\0\0\0']) {
      const socket = connect(Number(new URL(mongo.uri).port), '127.0.0.1');
      socket.on('error', () => {});
      socket.resume().write(Buffer.from(frame, 'latin1'));
      await once(socket, 'close');
    }
    expect(await things.countDocuments()).toBe(1);
  });

  it('reports in one sentence that the directory is in use', async () => {
    await start('in-use');
    await expect(start('in-use')).rejects.toThrow(
      new Error(`The data directory ${join(scratch, 'in-use')} is in use by another process.`),
    );
  });

  it('reports in one sentence that the path is not a directory', async () => {
    await writeFile(join(scratch, 'a-file'), '');
    await expect(start('a-file')).rejects.toThrow(/^The embedded MongoDB cannot open [^\n]+\.$/);
  });

  it('reports in one sentence that the port is taken', async () => {
    const port = Number(new URL((await start('port-a')).uri).port);
    await expect(start('port-b', { port })).rejects.toThrow(
      new Error(`The embedded MongoDB cannot listen on port ${port} of 127.0.0.1.`),
    );
  });

  it('sets the cache to the requested size', async () => {
    const mongo = await start('cache', { cacheSizeMb: 33 });
    const { wiredTiger } = await connectTo(mongo).db('admin').command({ serverStatus: 1 });
    expect(wiredTiger.cache['maximum bytes configured']).toBe(33 * 1024 * 1024);
    await expect(start('cache-too-small', { cacheSizeMb: 1 })).rejects.toThrow('--cache-mb takes a whole number');
  });

  it('exits, and releases the directory, when the process that started it is killed', async () => {
    const dataDir = join(scratch, 'orphan');
    const script = `import { startEmbeddedMongo } from ${JSON.stringify(new URL('./embedded-mongo.ts', import.meta.url).href)};
      console.log((await startEmbeddedMongo({ dataDir: ${JSON.stringify(dataDir)} })).uri);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    await expect(start('orphan')).rejects.toThrow('in use');
    parent.kill('SIGKILL');
    await vi.waitFor(() => start('orphan'), { timeout: 30_000, interval: 100 });
  });

  // guarantee: F11
  it('loses no acknowledged write when it is killed', async () => {
    const acknowledged: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      const mongo = await start('killed');
      const things = connectThings(mongo, 8);
      const target = acknowledged.length + 400;
      const write = async (writer: number) => {
        for (let turn = 0; ; turn += 1) {
          const _id = round * 1_000_000 + turn * 8 + writer;
          await things.insertOne({ _id, text: 'x'.repeat(200) }, durable);
          acknowledged.push(_id);
          if (acknowledged.length === target) process.kill(mongo.pid, 'SIGKILL');
        }
      };
      await Promise.allSettled(Array.from({ length: 8 }, (_, writer) => write(writer)));
      expect(await mongo.exited).toBe('SIGKILL');
    }
    const kept = new Set(
      (
        await connectThings(await start('killed'))
          .find()
          .toArray()
      ).map(({ _id }) => _id),
    );
    expect(acknowledged.length).toBeGreaterThanOrEqual(800);
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  });
});
