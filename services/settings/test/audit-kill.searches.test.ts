import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { untilReady } from '@ticketing/testkit/until-ready.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { service } from '../src/service.ts';
import { type SettingsHarness, startHarness } from './harness.ts';

const kills = 10;
const writers = 8;

let settings: SettingsHarness;
let killed: ChildProcess | undefined;

beforeAll(async () => {
  settings = await startHarness();
});
afterAll(async () => {
  killed?.kill('SIGKILL');
  await settings.stop();
});

/** Starts a process that serves requests and seals the audit log, and returns its URL when it is ready. */
async function startProcess(): Promise<{ child: ChildProcess; url: string }> {
  const own = { TICKETING_SETTINGS_ROLES: 'api,scheduler', TICKETING_SETTINGS_LOG_LEVEL: 'info' };
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts')], {
    env: { ...process.env, ...settings.environment, ...own },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  killed = child;
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, ports } = JSON.parse(line) as { msg: string; ports: { http: number } };
    if (msg !== 'started') continue;
    const url = `http://127.0.0.1:${ports.http}`;
    child.stdout.resume();
    await untilReady(url);
    return { child, url };
  }
  throw new Error('The process has ended.');
}

/** The status of each change by the id of its trace; undefined if there was no response. */
const sent = new Map<string, number | undefined>();

/** Sends a change. Returns the response; undefined if there was none. */
async function send(url: string, method: string, path: string, body?: object) {
  const traceId = randomBytes(16).toString('hex');
  sent.set(traceId, undefined);
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const response = await settings.write(method, path, body, { url, headers }).catch(() => undefined);
  sent.set(traceId, response?.status);
  return response;
}

let names = 0;
/** Each subchannel has a different name. */
const newName = () => `Chat ${++names}`;

/** Changes one thing after the other, in all ways that are audited, until there is no response. */
async function write(url: string, onResponse: () => void): Promise<void> {
  for (;;) {
    const created = await send(url, 'POST', '/settings/subchannel', { channel: 'chat', name: newName() });
    if (!created) return;
    onResponse();
    const path = `/settings/subchannel/${created.json.id}`;
    for (const [method, target, body] of [
      ['PUT', '/settings/routingOrder', { value: 'prioritySla' }],
      ['PATCH', path, { name: newName() }],
      ['DELETE', path],
      // Refused, because the subchannel no longer exists.
      ['DELETE', path],
    ] as const) {
      if (!(await send(url, method, target, body))) return;
      onResponse();
    }
  }
}

/** Lets writers change things until the process is killed, a certain number of responses later. */
async function killUnderLoad(afterResponses: number): Promise<void> {
  const { child, url } = await startProcess();
  let responses = 0;
  const onResponse = () => {
    responses += 1;
    if (responses === afterResponses) child.kill('SIGKILL');
  };
  await Promise.all(Array.from({ length: writers }, () => write(url, onResponse)));
  if (child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
}

async function operate(name: 'audit-export' | 'audit-verify'): Promise<{ left: number; lines: string[] }> {
  const lines: string[] = [];
  const left = await service.operate({ name }, (line) => lines.push(line), settings.environment);
  return { left, lines };
}

// asvs: 16.4.2
test(`every change that was acknowledged has one entry in a whole chain, although its process is killed ${kills} times`, async () => {
  for (let kill = 0; kill < kills; kill += 1) {
    await killUnderLoad(20 + kill * 7);
    expect((await operate('audit-verify')).left).toBe(0);
  }
  // As if the processes had died two minutes ago.
  await settings.database.collection('auditPending').updateMany({}, { $set: { at: new Date(0) } });
  expect(await operate('audit-verify')).toMatchObject({ left: 0 });
  const { lines } = await operate('audit-export');
  const entries = lines.slice(1).map((line) => JSON.parse(line) as { traceId: string; outcome: string });
  const outcomes = new Map(entries.map(({ traceId, outcome }) => [traceId, outcome]));
  expect(outcomes.size).toBe(entries.length);
  const wrong = [...sent].filter(([traceId, status]) => {
    const outcome = outcomes.get(traceId);
    if (status === undefined) return false;
    return status < 300 ? outcome !== 'done' : outcome !== undefined;
  });
  expect(wrong).toEqual([]);
  expect([...outcomes.keys()].filter((traceId) => !sent.has(traceId))).toEqual([]);
  const statuses = [...sent.values()];
  const summary = {
    kills,
    acknowledged: statuses.filter((status) => status !== undefined && status < 300).length,
    refused: statuses.filter((status) => status !== undefined && status >= 300).length,
    unanswered: statuses.filter((status) => status === undefined).length,
    entries: entries.length,
    unknown: entries.filter(({ outcome }) => outcome === 'unknown').length,
  };
  process.stdout.write(`${JSON.stringify(summary)}\n`);
  expect(summary.unanswered).toBeGreaterThan(0);
  expect(summary.refused).toBeGreaterThan(0);
});
