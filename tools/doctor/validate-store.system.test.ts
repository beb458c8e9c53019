import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedMongo } from '@ticketing/embedded-mongo/embedded-mongo.ts';
import { damageLargestFile } from '@ticketing/testkit/damage-file.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { mongo } from 'mongoose';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { command } from '../cli/doctor.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'ticketing-validate-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

const folder = () => join(data, 'mongodb');

/** Stores documents in two collections, and stops the store. */
async function fillStore(): Promise<void> {
  const store = await startEmbeddedMongo({ dataDir: folder() });
  const client = new mongo.MongoClient(store.uri);
  for (const name of ['files.chunks', 'tickets']) {
    const collection = client.db('ticketing_tickets').collection(name);
    await collection.createIndex({ text: 1 });
    for (let count = 0; count < 30; count++) {
      await collection.insertOne({ text: seededBytes(200).toString('hex'), bytes: seededBytes(60_000 + count) });
    }
  }
  await client.close();
  await store.stop();
}

async function validate() {
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  const code = await command(['--validate', '--data', data], { env: process.env, print, printError: print });
  return { code, text: lines.join('\n') };
}

// guarantee: F2
test('names the file of a stopped store that is damaged and what to do, and finds nothing in one that is not', async () => {
  await fillStore();
  expect(await validate()).toEqual({ code: 0, text: 'no file of the store is damaged' });
  const name = await damageLargestFile(folder());
  const { code, text } = await validate();
  expect(code).toBe(1);
  expect(text).toMatch(/A file of the collection (files\.chunks|tickets) of ticketing_tickets is damaged: /);
  expect(text).toContain(`is damaged: ${name} in ${folder()}`);
  expect(text).toContain('restore a backup (docs/operations/backup.md)');
  expect(text).toContain('1 collections have damaged files');
}, 120_000);

test('refuses a store that is in use', async () => {
  const store = await startEmbeddedMongo({ dataDir: folder() });
  expect(await validate()).toEqual({ code: 1, text: expect.stringContaining('is in use by another process') });
  await store.stop();
});

test('validates the collections of a server, and calls one that is unreachable not damaged', async () => {
  await fillStore();
  const server = await startEmbeddedMongo({ dataDir: folder() });
  vi.stubEnv('MONGODB_URI', server.uri);
  expect(await validate()).toEqual({ code: 0, text: 'no file of the store is damaged' });
  await server.stop();
  expect(await validate()).toEqual({ code: 1, text: expect.stringContaining('ECONNREFUSED') });
});
