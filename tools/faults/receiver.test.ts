import type { ChildProcess } from 'node:child_process';
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
/** The ids of deliveries to which the receiver does not respond. */
let hung: unknown[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'receiver-'));
  file = join(folder, 'received');
  const port = await freePort();
  url = `http://127.0.0.1:${port}/`;
  hung = [];
  client = startClient({
    name: 'receiver',
    program: 'receiver.ts',
    args: [String(port), file],
    variables: { [markName]: mark, TICKETING_TEST_FAULTS_SECRET: secret },
    log: { listen: (child: ChildProcess) => void child.on('message', (id) => hung.push(id)) },
  });
  await expect.poll(() => deliver('evt_0')).toBe(200);
});
afterEach(async () => {
  await client.stop();
  rmSync(folder, { recursive: true });
});

/** Returns the status, or why there was none. */
async function deliver(id: string, signedId = id): Promise<number | string> {
  const body = JSON.stringify({ type: 'ticket.updated', data: { eventId: id } });
  const now = new Date();
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(signedId, now, body),
  };
  const response = await fetch(url, { method: 'POST', headers, body }).catch((error: Error) => error);
  return response instanceof Error ? response.name : response.status;
}

async function behave(behaviour: Behaviour, status: number | string): Promise<void> {
  client.send(behaviour);
  let last: number | string | undefined;
  // A receiver that hangs would not respond to a delivery that comes before it behaves.
  const deliverAnother = () => {
    void deliver('evt_0').then((one) => {
      last = one;
    });
    return last;
  };
  await expect.poll(deliverAnother).toBe(status);
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
  ['vanish', 'TypeError'],
] as const)('a receiver that is to %s accepts nothing until it behaves', async (behaviour, status) => {
  await behave(behaviour, status);
  expect(await deliver('evt_1')).toBe(status);
  await behave('accept', 200);
  expect(await deliver('evt_2')).toBe(200);
  expect(accepted()).toEqual(['evt_2']);
});

test('a receiver that is to hang neither responds nor accepts anything until it behaves', async () => {
  client.send('hang');
  const deliverAnother = () => {
    void deliver('evt_0');
    return hung;
  };
  await expect.poll(deliverAnother).toContain('evt_0');
  const response = deliver('evt_1');
  await expect.poll(() => hung).toContain('evt_1');
  await behave('accept', 200);
  expect(await deliver('evt_2')).toBe(200);
  expect(await Promise.race([response, 'no response'])).toBe('no response');
  expect(accepted()).toEqual(['evt_2']);
});

test('a receiver refuses and notes a wrong signature', async () => {
  expect(await deliver('evt_1', 'evt_2')).toBe(400);
  expect(accepted()).toEqual([expect.stringContaining('the signature of evt_1 is refused')]);
});
