import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Client, startClient } from './clients.ts';
import { findProcesses, markName, signalProcess } from './processes.ts';
import type { Behaviour } from './receiver.ts';
import { readRecords } from './record-file.ts';

const secret = `whsec_${Buffer.from('a secret of 24 bytes ...').toString('base64')}`;
const mark = `receiver-test-${process.pid}`;
let folder: string;
let file: string;
let url: string;
let client: Client;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'receiver-'));
  file = join(folder, 'received');
  const port = await freePort();
  url = `http://127.0.0.1:${port}/`;
  client = startClient({
    name: 'receiver',
    program: 'receiver.ts',
    args: [String(port), file],
    variables: { [markName]: mark, TICKETING_TEST_FAULTS_SECRET: secret },
    log: { listen: () => undefined },
  });
  await expect.poll(() => deliver('evt_0')).toBe(200);
});
afterEach(async () => {
  await client.stop();
  rmSync(folder, { recursive: true });
});

/** Returns the status, or why there was none. */
async function deliver(id: string, signedId = id, timeoutMs?: number): Promise<number | string> {
  const body = JSON.stringify({ type: 'ticket.updated', data: { eventId: id } });
  const now = new Date();
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(signedId, now, body),
  };
  const signal = timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { method: 'POST', headers, body, signal }).catch((error: Error) => error);
  return response instanceof Error ? response.name : response.status;
}

async function behave(behaviour: Behaviour, status: number | string): Promise<void> {
  client.send(behaviour);
  await expect.poll(() => deliver('evt_0', 'evt_0', 500)).toBe(status);
}

const accepted = () =>
  readRecords(file)
    .map(({ id, problem }) => problem ?? id)
    .filter((id) => id !== 'evt_0');

// Processes are found in /proc.
test.runIf(process.platform === 'linux')(
  'what a receiver has accepted outlives its death, and it is restarted with the same behaviour',
  async () => {
    await behave('fail', 500);
    await behave('accept', 200);
    expect(await deliver('evt_1')).toBe(200);
    const [before] = findProcesses(mark);
    expect(before && signalProcess(before, mark, 'SIGKILL')).toBe(true);
    await expect.poll(() => deliver('evt_2')).toBe(200);
    expect(findProcesses(mark).map(({ pid }) => pid)).not.toEqual([before?.pid]);
    expect(findProcesses(mark)).toMatchObject([{ role: 'receiver', isClient: true }]);
    expect(accepted()).toEqual(['evt_1', 'evt_2']);
  },
);

test.each([
  ['fail', 500],
  ['hang', 'TimeoutError'],
  ['vanish', 'TypeError'],
] as const)('a receiver that is to %s accepts nothing until it behaves', async (behaviour, status) => {
  // A response that is only late looks like none, so a receiver that is to hang accepts nothing before.
  if (behaviour === 'hang') await behave('fail', 500);
  await behave(behaviour, status);
  await expect.poll(() => deliver('evt_1', 'evt_1', 500)).toBe(status);
  await behave('accept', 200);
  expect(await deliver('evt_2')).toBe(200);
  expect(accepted()).toEqual(['evt_2']);
});

test('a receiver refuses and notes a wrong signature', async () => {
  expect(await deliver('evt_1', 'evt_2')).toBe(400);
  expect(accepted()).toEqual([expect.stringContaining('the signature of evt_1 is refused')]);
});
