import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '@ticketing/testkit/free-port.ts';
import { untilReady } from '@ticketing/testkit/until-ready.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExecutionHarness, startExecutionHarness } from './execution-harness.ts';

/** The point of an execution at which its process is killed. */
const places = ['sent', 'received', 'responded'] as const;
const atOnce = 3;
const kills = 60;

let used: ExecutionHarness;
let child: ChildProcess | undefined;

beforeAll(async () => {
  used = await startExecutionHarness();
});
afterAll(async () => {
  child?.kill('SIGKILL');
  await used.stop();
});

/** Starts a process of the service, as in production; returns its URL. */
async function startProcess(): Promise<string> {
  const port = await freePort();
  child = spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts')], {
    env: { ...process.env, ...used.environment, TICKETING_INTENTS_HTTP_PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await untilReady(`http://127.0.0.1:${port}`);
  return `http://127.0.0.1:${port}`;
}

async function kill(): Promise<void> {
  const dying = child;
  child = undefined;
  if (!dying) return;
  dying.kill('SIGKILL');
  if (dying.exitCode === null && dying.signalCode === null) await once(dying, 'exit');
}

/** The outcome of an intent, as if the time of the leases of the process that was killed had passed. */
async function toOutcome(id: number): Promise<Record<string, unknown>> {
  let response: Awaited<ReturnType<ExecutionHarness['execute']>> | undefined;
  const execute = async () => {
    // Its last write may still be on its way when it has died.
    const expired = { $set: { 'lease.expiresAt': new Date(0) } };
    await used.database.collection('intents').updateMany({ lease: { $ne: null } }, expired);
    response = await used.execute(id, { informCustomer: true });
    return response.json.code ?? response.status;
  };
  await expect.poll(execute).toBe(200);
  return response?.json ?? {};
}

test(
  `of executions whose process is killed around the call ${kills} times, ${atOnce} at once, none is made twice`,
  async () => {
    const found = { executed: 0, unknown: 0, effects: 0 };
    for (let run = 0; run < kills; run += 1) {
      const place = places[run % places.length];
      const ids = await Promise.all(Array.from({ length: atOnce }, () => used.intent()));
      const url = await startProcess();
      used.backend.requests.length = 0;
      const reached = new Promise<void>((resolve) => {
        used.backend.respond = (_, response) => {
          if (place === 'received') resolve();
          else response.end('{}', () => resolve());
        };
      });
      const lost = ids.map((id) =>
        used.request('POST', `/intent/${id}/execute`, { url, body: { informCustomer: true } }).catch(() => undefined),
      );
      // Before the first request arrives, when it has arrived, or soon after the response.
      if (place === 'sent') await wait((run * 7) % 40);
      else await reached;
      await wait((run * 3) % 10);
      await kill();
      await Promise.all(lost);
      used.backend.respond = (_, response) => response.end('{}');
      for (const id of ids) {
        const json = await toOutcome(id);
        const effects = used.backend.requests.filter(({ body }) => JSON.parse(body).intent.id === id);
        const informed = used.model.replies.filter(({ key }) => key === `${json.txId}:inform`);
        expect(effects.length).toBeLessThanOrEqual(1);
        expect(informed).toHaveLength(json.success ? 1 : 0);
        if (json.success) expect(effects).toMatchObject([{ headers: { 'idempotency-key': json.txId } }]);
        else expect(json.responseCode).toBe('unknown');
        found[json.success ? 'executed' : 'unknown'] += 1;
        found.effects += effects.length;
      }
    }
    expect(found.executed + found.unknown).toBe(kills * atOnce);
    expect(found.effects).toBeGreaterThanOrEqual(found.executed);
    process.stdout.write(`executions around ${kills} kills: ${JSON.stringify(found)}\n`);
  },
  30_000 + kills * 20_000,
);
