import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { guideSnippet, guideSnippets } from '../webhook/guide-snippets.ts';
import { webhookListener } from '../webhook/listener.ts';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const secret = newSecret();
const [example] = guideSnippets().filter(({ language, name }) => language === 'json' && name === '');
const body = JSON.stringify(JSON.parse(example?.code ?? ''));

let folder: string;
const started: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'webhook-guide-'));
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'));
});

afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true });
});

/** Starts a program in the folder of the test. */
function run(program: string, args: string[], environment: Record<string, string>) {
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: '0', ...environment };
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part;
  });
  return { child, output: () => output };
}

/** Writes a block of the document to a file of its name. */
function writeSnippet(name: string): string {
  writeFileSync(join(folder, name), guideSnippet(name));
  return name;
}

/** Why programs cannot be run here; undefined if they can. */
function missing(...commands: [program: string, ...args: string[]][]): string | undefined {
  const failed = commands.find(([program, ...args]) => spawnSync(program, args).status !== 0);
  return failed && `"${failed.join(' ')}" fails on this machine`;
}

/** A request that reaches a receiver. */
interface Delivery {
  id: string;
  timestamp: string;
  signatures: string;
  body: string;
}

/** Signs as the service does: every live secret, at a number of seconds from now. */
function signed({ id = 'evt_1', content = body, secrets = [secret], seconds = 0 } = {}): Delivery {
  const at = new Date(Date.now() + seconds * 1000);
  const signatures = secrets.map((one) => new Webhook(one).sign(id, at, content)).join(' ');
  return { id, timestamp: String(Math.floor(at.getTime() / 1000)), signatures, body: content };
}

/** Whether a delivery is accepted. */
type Verify = (delivery: Delivery) => Promise<boolean>;

/** Starts a receiver of the document. */
async function receiver(program: string, name: string): Promise<Verify> {
  const { output } = run(program, [writeSnippet(name)], {});
  const port = await vi.waitFor(
    () => {
      const found = /listening on port (\d+)/.exec(output())?.[1];
      if (!found) throw new Error('the receiver does not listen');
      return found;
    },
    { timeout: 30_000 },
  );
  return async ({ id, timestamp, signatures, body: content }) => {
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures };
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: content });
    expect(response.status).toSatisfy((status) => status === 204 || status === 401);
    if (response.status === 204) await expect.poll(output).toContain(`${id} ${JSON.parse(content).type}`);
    return response.status === 204;
  };
}

/** Runs the script of the document for each delivery. */
async function script(): Promise<Verify> {
  const name = writeSnippet('verify.sh');
  return async ({ id, timestamp, signatures, body: content }) => {
    writeFileSync(join(folder, 'body'), content);
    const { child, output } = run('bash', [name, id, timestamp, signatures, 'body'], {});
    const [code] = await once(child, 'close');
    expect(output()).toBe(code === 0 ? 'It is genuine.\n' : '');
    return code === 0;
  };
}

const verifiers: [name: string, start: () => Promise<Verify>, missing: string | undefined][] = [
  ['Node', () => receiver(process.execPath, 'receiver.mjs'), undefined],
  // The receiver uses str.removeprefix, which Python has since 3.9.
  [
    'Python',
    () => receiver('python3', 'receiver.py'),
    missing(['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))']),
  ],
  ['bash', script, missing(['bash', '--version'], ['openssl', 'version'], ['od', '/dev/null'])],
];

describe.each(verifiers)('verification with %s', (_name, start, absent) => {
  it('accepts what the service signs', async ({ skip }) => {
    if (absent) skip(absent);
    const isAccepted = await start();
    expect(await isAccepted(signed())).toBe(true);
    expect(await isAccepted(signed({ content: '{"type":"ü€😀\\n"}', id: 'evt_2' }))).toBe(true);
    // The clock of the receiver may be 5 minutes off. It goes on while the test runs.
    expect(await isAccepted(signed({ seconds: 300 }))).toBe(true);
    expect(await isAccepted(signed({ seconds: -240 }))).toBe(true);
  });

  it('accepts each of two secrets while one replaces the other', async ({ skip }) => {
    if (absent) skip(absent);
    const isAccepted = await start();
    expect(await isAccepted(signed({ secrets: [newSecret(), secret] }))).toBe(true);
    expect(await isAccepted(signed({ secrets: [secret, newSecret()] }))).toBe(true);
  });

  it('refuses a changed body, id or time, another secret, an old or future time, and what is no signature', async ({
    skip,
  }) => {
    if (absent) skip(absent);
    const isAccepted = await start();
    const genuine = signed();
    const { signatures, timestamp } = genuine;
    const refused = {
      'another body': { ...genuine, body: body.replace('4', '5') },
      'a space more': { ...genuine, body: `${body} ` },
      'another id': { ...genuine, id: 'evt_2' },
      'another time': { ...genuine, timestamp: String(Number(timestamp) - 1) },
      'another secret': signed({ secrets: [newSecret()] }),
      'two other secrets': signed({ secrets: [newSecret(), newSecret()] }),
      'too old': signed({ seconds: -301 }),
      'of the future': signed({ seconds: 400 }),
      'no time': { ...genuine, timestamp: 'now' },
      'a negative time': { ...genuine, timestamp: `-${timestamp}` },
      'no signature': { ...genuine, signatures: 'v1,' },
      'another version': { ...genuine, signatures: signatures.replace('v1,', 'v2,') },
      'a part of the signature': { ...genuine, signatures: signatures.slice(0, -1) },
      'a pattern': { ...genuine, signatures: '*' },
    };
    const accepted: string[] = [];
    for (const [name, delivery] of Object.entries(refused)) if (await isAccepted(delivery)) accepted.push(name);
    expect(accepted).toEqual([]);
    expect(await isAccepted(genuine)).toBe(true);
  });
});

it('send.sh signs as the service does', async ({ skip }) => {
  const absent = missing(['bash', '--version'], ['openssl', 'version'], ['curl', '--version']);
  if (absent) skip(absent);
  const lines: string[] = [];
  const listener = webhookListener({ secret, status: 204, failRate: 0 }, (line) => lines.push(line));
  onTestFinished(() => void listener.close());
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
  writeFileSync(join(folder, 'body'), guideSnippet('test.json'));
  const send = async (key: string) => {
    const { child } = run('bash', [writeSnippet('send.sh'), url, 'body'], { WEBHOOK_SECRET: key });
    return text(child.stdout);
  };
  expect([await send(secret), await send(newSecret())]).toEqual(['204\n', '401\n']);
  expect(lines[0]).toMatch(/webhook\.test .* evt_test {2}verified → 204$/);
});

describe('the reader of the feed', () => {
  const event = (version: number) => ({ eventId: `evt_${version}`, type: 'ticket.updated', ticketId: 1, version });
  const busy = { status: 503, body: {}, headers: { 'retry-after': '1' } };

  /** A gateway with a feed. Each response is used once, the last one for ever. */
  async function startFeed(responses: { status: number; body: unknown; headers?: Record<string, string> }[]) {
    const asked: (string | null)[] = [];
    const server = createServer((request, response) => {
      const { searchParams, pathname } = new URL(request.url ?? '', 'http://gateway');
      expect([pathname, searchParams.get('limit')]).toEqual(['/event', '500']);
      expect(request.headers.authorization).toBe('Bearer a-token');
      asked.push(searchParams.get('after'));
      const { status, body: json, headers } = (responses.length > 1 ? responses.shift() : responses[0]) ?? busy;
      response.writeHead(status, headers).end(JSON.stringify(json));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await once(server, 'listening');
    return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  const read = (url: string) =>
    run(process.execPath, [writeSnippet('read-feed.mjs')], { TICKETS_API_URL: url, TICKETS_API_TOKEN: 'a-token' });

  it('handles every event, waits where it must, and continues where it was killed', async () => {
    const { asked, url } = await startFeed([
      { status: 200, body: { events: [event(1), event(2)], next: 'c2' } },
      busy,
      { status: 200, body: { events: [event(3)], next: 'c3' } },
      { status: 200, body: { events: [], next: 'c3' } },
    ]);
    const first = read(url);
    await expect.poll(() => asked.filter((after) => after === 'c3').length).toBeGreaterThan(1);
    expect(first.output()).toBe('1 1 ticket.updated\n1 2 ticket.updated\n1 3 ticket.updated\n');
    expect(asked.slice(0, 4)).toEqual([null, 'c2', 'c2', 'c3']);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    expect(readFileSync(join(folder, 'cursor'), 'utf8')).toBe('c3');
    asked.length = 0;
    read(url);
    await expect.poll(() => asked[0]).toBe('c3');
  });

  it('ends with the problem when it comes too late', async () => {
    const { url } = await startFeed([{ status: 410, body: { code: 'cursor_expired' } }]);
    const { child } = read(url);
    const [error, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(code).toBe(1);
    expect(error).toContain('cursor_expired');
  });
});
