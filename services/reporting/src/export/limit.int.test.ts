import { randomBytes } from 'node:crypto';
import { ExportFormat, ExportStatus } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import { startServiceHarness } from '@ticketing/testkit/service-harness.ts';
import mongoose from 'mongoose';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { service } from '../service.ts';
import { buildExportIndexes, type ExportJob } from './schema.ts';
import { type ExportStore, exportStore } from './store.ts';

const dbName = `test_${randomBytes(6).toString('hex')}`;
const maxUnfinished = 5;
let connections: mongoose.Connection[];
/** The stores of two processes. */
let stores: ExportStore[];

beforeAll(async () => {
  const connect = () => mongoose.createConnection(inject('mongodbUri'), { dbName }).asPromise();
  connections = await Promise.all([connect(), connect()]);
  stores = connections.map((connection) => exportStore(connection, systemRuntime));
  for (const connection of connections) await buildExportIndexes(connection);
});
afterAll(async () => {
  await connections[0]?.dropDatabase();
  await Promise.all(connections.map((connection) => connection.close()));
});

const storeAt = (index: number): ExportStore => stores[index % stores.length] as ExportStore;
/** Adds exports of one caller at once, by both processes in turn. Returns those that were accepted. */
async function add(count: number, requestedBy = 'user 9'): Promise<ExportJob[]> {
  const job = { requestedBy, request: new Uint8Array(), format: ExportFormat.CSV };
  const added = await Promise.all(Array.from({ length: count }, (_, index) => storeAt(index).add(job, maxUnfinished)));
  return added.filter((one) => one !== undefined);
}

describe('of the unfinished exports of a caller', () => {
  test('five are accepted, even if 40 are requested at once; those of others do not count', async () => {
    const [own, other] = await Promise.all([add(40), add(2, 'user 10')]);
    expect([own.length, other.length]).toEqual([5, 2]);
    expect(new Set(own.map(({ id }) => id)).size).toBe(5);
    const unfinished = { requestedBy: 'user 9', status: ExportStatus.WAITING };
    expect(await connections[0]?.collection('exports').countDocuments(unfinished)).toBe(5);
  });

  test('as many are accepted again as have finished, failed or been removed', async () => {
    const [first, second] = [await claim(), await claim()];
    expect(await add(2)).toHaveLength(0);
    expect(await storeAt(0).finish(first, 0, 0)).toBe(true);
    expect(await add(10)).toHaveLength(1);
    await storeAt(1).fail(second);
    expect(await add(10)).toHaveLength(1);
    await storeAt(0).removeOlderThan(new Date(Date.now() + 60_000));
    expect(await add(40)).toHaveLength(5);
  });

  test('one that its process has released, or has left behind, still counts', async () => {
    const [released, left] = [await claim(), await claim()];
    await storeAt(0).release(released);
    await connections[0]
      ?.collection<{ _id: string }>('exports')
      .updateOne({ _id: left.id }, { $set: { 'lease.expiresAt': new Date(0) } });
    expect(await add(10)).toHaveLength(0);
  });
});

test('of 40 requests of one caller to two instances at once five are accepted, the others refused with 429', async () => {
  // Only the scheduler makes exports, so none of these ends.
  const harness = await startServiceHarness(service, { variables: { ROLES: 'api' } });
  const other = await harness.startInstance();
  const urls = [harness.url, `http://127.0.0.1:${other.ports.http}`];
  const request = (index: number) =>
    harness.request('GET', '/export/reporting_tickets?all=true&format=csv', {
      caller: { permissions: ['exportReporting'] },
      headers: { prefer: 'respond-async' },
      url: urls[index % 2] ?? '',
    });
  const responses = await Promise.all(Array.from({ length: 40 }, (_, index) => request(index)));
  expect(responses.filter(({ status }) => status === 202)).toHaveLength(5);
  const refused = responses.filter(({ status }) => status !== 202);
  expect(new Set(refused.map(({ status, json }) => `${status} ${json.code}`))).toEqual(
    new Set(['429 too_many_exports']),
  );
  await other.stop();
  await harness.stop();
});

/** Claims an export of the caller. */
async function claim(): Promise<ExportJob> {
  for (;;) {
    const job = await storeAt(0).claim();
    if (!job) throw new Error('there is no export to claim');
    if (job.requestedBy === 'user 9') return job;
  }
}
