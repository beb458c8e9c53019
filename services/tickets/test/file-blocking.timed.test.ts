import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { withoutBlocking } from '@ticketing/testkit/machine-limits.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FileClientData, FileRequest } from './file-client.ts';
import { startHarness, type TicketsHarness } from './harness.ts';

const fileBytes = 20 * 1024 * 1024;
let tickets: TicketsHarness;
let client: Worker;

beforeAll(async () => {
  tickets = await startHarness();
  const token = await tickets.identity.internalToken('tickets', testCaller());
  const workerData: FileClientData = { url: tickets.url, token, fileBytes };
  client = new Worker(new URL('./file-client.ts', import.meta.url), { workerData });
});
afterAll(async () => {
  await client.terminate();
  await tickets.stop();
});

async function send(request: FileRequest): Promise<[status: number, bytes: number]> {
  client.postMessage(request);
  const [response] = await once(client, 'message');
  return response;
}

// guarantee: H5
test('no file of 20 MiB blocks the service for more than 50 ms', async () => {
  // The first requests also compile code.
  for (const kind of ['upload', 'upload-rpc', 'download'] as const) await send({ kind });
  for (const [name, request] of [
    ['an upload', { kind: 'upload' }],
    ['an upload with a key', (time) => ({ kind: 'upload', headers: { 'idempotency-key': `a${time}` } })],
    ['its repetition', { kind: 'upload', headers: { 'idempotency-key': 'a0' } }],
    ['an upload by RPC', { kind: 'upload-rpc' }],
    ['one with a key', (time) => ({ kind: 'upload-rpc', headers: { 'idempotency-key': `b${time}` } })],
    ['a download', { kind: 'download' }],
    ['a range', { kind: 'download', headers: { range: `bytes=1-${fileBytes - 2}` } }],
  ] satisfies [string, FileRequest | ((attempt: number) => FileRequest)][]) {
    let attempts = 0;
    const [status] = await withoutBlocking(50, () =>
      send(typeof request === 'function' ? request(attempts++) : request),
    );
    expect(status, name).toBe(name === 'a range' ? 206 : 200);
  }
});
