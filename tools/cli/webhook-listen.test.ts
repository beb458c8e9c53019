import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';

const secret = `whsec_${Buffer.alloc(32, 'a secret').toString('base64')}`;
const started: ChildProcess[] = [];

afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

function run(args: string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), 'webhook:listen', ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  return child;
}

/** Runs it to its end. */
async function outcome(args: string[], environment?: Record<string, string>) {
  const child = run(args, environment);
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, out, error };
}

/** Starts it on a free port, and waits until it listens. */
async function listen(...args: string[]) {
  const child = run(['--port', '0', '--secret', secret, ...args]);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part;
  });
  const url = await vi.waitFor(
    () => {
      const found = /^listening on (\S+)\n/.exec(output)?.[1];
      if (!found) throw new Error(`it does not listen: ${output}`);
      return found;
    },
    { timeout: 30_000 },
  );
  /** Waits for `count` lines of deliveries, and returns them without their times. */
  const lines = async (count: number) => {
    const printed = () => output.split('\n').slice(1, -1);
    await expect.poll(printed).toHaveLength(count);
    return printed().map((line) => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z {2}/, ''));
  };
  return { child, url, lines, output: () => output };
}

const event = JSON.stringify({ type: 'ticket.updated', data: { ticketId: 12, version: 3, note: 'Zähler' } });

/** Sends a delivery as the service does, unless the headers are others. Returns the status of the response. */
async function deliver(url: string, body: string, headers: Record<string, string> = {}): Promise<number> {
  const at = new Date();
  const signed = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
  };
  const response = await fetch(url, { method: 'POST', headers: { ...signed, ...headers }, body });
  await response.arrayBuffer();
  return response.status;
}

describe('npm run webhook:listen', () => {
  it('verifies deliveries, prints a line for each, and ends on a signal', async () => {
    const { child, url, lines } = await listen();
    expect(await deliver(url, event)).toBe(204);
    expect(await deliver(url, JSON.stringify({ type: 'webhook.test', data: { webhookId: 1 } }))).toBe(204);
    expect(await lines(2)).toEqual([
      'ticket.updated          ticket 12 v3    evt_1  verified → 204',
      'webhook.test            -               evt_1  verified → 204',
    ]);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('responds with 401 to what is not verified, and says why', async () => {
    const { url, lines } = await listen();
    const old = Math.floor(Date.now() / 1000) - 301;
    const tooOld = {
      'webhook-timestamp': String(old),
      'webhook-signature': new Webhook(secret).sign('evt_1', new Date(old * 1000), event),
    };
    const other = new Webhook(Buffer.alloc(32, 'another').toString('base64')).sign('evt_1', new Date(), event);
    expect(await deliver(url, event, { 'webhook-signature': other })).toBe(401);
    expect(await deliver(url, event, tooOld)).toBe(401);
    expect(await deliver(url, event, { 'webhook-signature': '' })).toBe(401);
    expect((await fetch(url)).status).toBe(405);
    expect(await lines(4)).toEqual([
      'ticket.updated          ticket 12 v3    evt_1  not verified: No matching signature found → 401',
      'ticket.updated          ticket 12 v3    evt_1  not verified: Message timestamp too old → 401',
      'ticket.updated          ticket 12 v3    evt_1  not verified: Missing required headers → 401',
      '-                       -               -  not a POST request → 405',
    ]);
  });

  it('accepts a body of 64 KiB, and refuses one more byte', async () => {
    const { url, lines } = await listen();
    const ofSize = (bytes: number) => JSON.stringify('a'.repeat(bytes - 2));
    expect(await deliver(url, ofSize(65_536))).toBe(204);
    expect(await deliver(url, ofSize(65_537))).toBe(413);
    expect((await lines(2))[1]).toContain('a body of more than 64 KiB → 413');
  });

  it('survives a sender that leaves before its body is complete', async () => {
    const { url, lines } = await listen();
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 10\r\n\r\nhalf`);
    // The receiver has begun to read.
    await once(socket, 'data');
    socket.destroy();
    expect(await deliver(url, event)).toBe(204);
    expect(await lines(1)).toHaveLength(1);
  });

  it('prints nothing of a sender that could control the terminal', async () => {
    const { url, lines } = await listen();
    const hostile = JSON.stringify({ type: '\u001b[2Jticket.created', data: { ticketId: '\u001b[31m', version: 1 } });
    await deliver(url, hostile, { 'webhook-id': 'evt_\u009b2J' });
    expect(await lines(1)).toEqual([
      '-                       -               -  not verified: No matching signature found → 401',
    ]);
  });

  it('responds as asked: with a status, and with failures at a rate', async () => {
    const asked = await listen('--status', '410');
    expect(await deliver(asked.url, event)).toBe(410);
    const failing = await listen('--fail', '1');
    expect(await deliver(failing.url, event)).toBe(500);
    expect((await failing.lines(1))[0]).toContain('verified → 500');
    const half = await listen('--fail', '0.5');
    const statuses = await Promise.all(Array.from({ length: 60 }, () => deliver(half.url, event)));
    expect(new Set(statuses)).toEqual(new Set([204, 500]));
  });

  it('reports wrong options in one sentence, and explains them with --help', async () => {
    const { url } = await listen();
    const { port } = new URL(url);
    const withSecret = { WEBHOOK_SECRET: secret };
    const short = (bytes: number) => `whsec_${Buffer.alloc(bytes).toString('base64')}`;
    const failures = await Promise.all([
      outcome([], { WEBHOOK_SECRET: '' }),
      outcome(['--secret', secret.slice('whsec_'.length)]),
      outcome(['--secret', short(23)]),
      outcome(['--status', '199'], withSecret),
      outcome(['--status', '600'], withSecret),
      outcome(['--fail', '1.1'], withSecret),
      outcome(['--port', '65536'], withSecret),
      outcome(['--port', port], withSecret),
    ]);
    const sentence = expect.stringMatching(/^[^\n]+\.\n$/);
    for (const failure of failures) expect(failure).toEqual({ code: 1, out: '', error: sentence });
    expect(failures.at(-1)?.error).toBe(`Port ${port} is taken; --port chooses another.\n`);
    expect(await outcome(['--help'])).toMatchObject({
      code: 0,
      error: '',
      out: expect.stringContaining('--fail RATE'),
    });
  });
});
