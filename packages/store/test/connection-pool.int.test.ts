import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { Connection } from 'mongoose';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openDatabase } from '../src/connection/database.ts';
import { storeCall } from '../src/document/store-error.ts';

const heldText = 'hold this request';

/** A proxy of the database that keeps requests with `heldText` back until `release`. */
async function openProxy() {
  const { hostname, port } = new URL(inject('mongodbUri'));
  const held: (() => void)[] = [];
  const isHeld = Promise.withResolvers<void>();
  const server = createServer((client) => {
    const upstream = connect(Number(port || 27_017), hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
    upstream.pipe(client);
    client.on('data', (bytes) => {
      const forward = () => void upstream.write(bytes);
      if (!bytes.includes(heldText)) return forward();
      held.push(forward);
      isHeld.resolve();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const uri = `mongodb://127.0.0.1:${(server.address() as AddressInfo).port}/?directConnection=true`;
  return { uri, isHeld: isHeld.promise, release: () => held.splice(0).forEach((forward) => void forward()) };
}

async function openThroughProxy() {
  const { uri, ...proxy } = await openProxy();
  const pool = { size: 1, waitMs: 50 };
  const database = openDatabase(uri, 'test_connection_pool', () => undefined, { isSetUpHere: true, pool });
  onTestFinished(() => {
    proxy.release();
    return database.close();
  });
  await database.opened;
  return { connection: database.connection, ...proxy };
}

const find = (connection: Connection, text: string) =>
  storeCall(() => connection.collection('things').findOne({ text }));

// guarantee: F4
test('an operation that gets no connection in time fails as unavailable; it works again when one is free', async () => {
  const { connection, isHeld, release } = await openThroughProxy();
  const first = find(connection, heldText);
  await isHeld;
  await expect(find(connection, 'other')).rejects.toMatchObject({
    code: 'unavailable',
    reason: 'store_unavailable',
    retryAfterSeconds: 1,
  });
  release();
  expect(await first).toBeNull();
  expect(await find(connection, 'other')).toBeNull();
});

test('the databases of a server share a client, which closes when all of them are closed', async () => {
  const { uri } = await openProxy();
  const open = (name: string) => openDatabase(uri, name, () => undefined, { isSetUpHere: true });
  const [first, second] = [open('test_shared_client_1'), open('test_shared_client_2')];
  await Promise.all([first.opened, second.opened]);
  const names = [first, second].map(({ connection }) => connection.db?.databaseName);
  expect(names).toEqual(['test_shared_client_1', 'test_shared_client_2']);
  expect(first.connection.getClient()).toBe(second.connection.getClient());
  await first.close();
  await first.close();
  expect(await find(second.connection, 'other')).toBeNull();
  await second.close();
  await expect(find(second.connection, 'other')).rejects.toMatchObject({ reason: 'store_unavailable' });
  const again = open('test_shared_client_1');
  onTestFinished(() => again.close());
  await again.opened;
  expect(await find(again.connection, 'other')).toBeNull();
});
