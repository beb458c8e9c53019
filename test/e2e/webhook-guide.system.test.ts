import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { guideSnippet, guideSnippets } from '../../tools/webhook/guide-snippets.ts';
import { webhookListener } from '../../tools/webhook/listener.ts';
import { type System, startSystem } from './harness.ts';

let system: System;
let token: string;
/** The server at which deliveries arrive. */
let receiver: Server;
/** The receiver of the document, when its secret is known. */
let listener: Server | undefined;
const lines: string[] = [];

beforeAll(async () => {
  system = await startSystem();
  token = await system.identity.issuerToken({ roleId: 1 });
  receiver = createServer((request, response) => {
    if (listener) listener.emit('request', request, response);
    else response.writeHead(503).end();
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  receiver?.closeAllConnections();
  receiver?.close();
  await system?.stop();
});

const isWithoutCurl = spawnSync('curl', ['--version']).status !== 0;

/** Runs commands of the document, at the ports of the test. */
function start(
  code: string,
  environment: Record<string, string> = {},
): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const script = code
    .replaceAll('http://127.0.0.1:8080', system.url)
    .replaceAll('http://127.0.0.1:3000', `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`)
    .replace(/^TOKEN=.*\n/m, '');
  const env = { ...process.env, TOKEN: token, ...environment };
  return spawn('sh', ['-ec', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Runs commands to their end. Returns the status and the body of each response that they print. */
async function run(code: string): Promise<{ status: number; json: Record<string, unknown> }[]> {
  const curl = `curl() { command curl "$@" -w '\\n%{http_code}\\n'; }\n`;
  const child = start(`${curl}${code}`);
  const [output, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(exitCode, output).toBe(0);
  return [...output.matchAll(/^(.*)\n(\d{3})\n/gm)].map(([, body = '', status]) => ({
    status: Number(status),
    json: JSON.parse(body),
  }));
}

/** The blocks of commands that mention a path. */
const blocks = (path: string) =>
  guideSnippets().filter(
    ({ language, name, code }) => language === 'sh' && name === '' && code.includes(`8080${path}`),
  );

// spec: 38.3
test('the commands for webhooks work in the order of the document', async ({ skip }) => {
  if (isWithoutCurl) skip('curl is not installed');
  const [creation, ...others] = blocks('/webhook');
  const [created] = await run(creation?.code ?? '');
  const shown = JSON.parse(guideSnippet('created.json'));
  expect(created?.json).toEqual({
    ...shown,
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  expect(Object.keys(created?.json ?? {})).toEqual(Object.keys(shown));
  listener = webhookListener({ secret: String(created?.json.secret), status: 204, failRate: 0 }, (line) => {
    lines.push(line);
  });
  // A delivery comes at least once.
  const received = (type: string) => lines.filter((line) => line.includes(type) && line.endsWith('verified → 204'));
  const atLeastOne = expect.arrayContaining([expect.anything()]);
  const [trial, ...rest] = others;
  expect((await run(trial?.code ?? '')).map(({ status }) => status)).toEqual([202, 200]);
  await expect.poll(() => received('webhook.test')).toEqual(atLeastOne);
  await expect.poll(() => received('ticket.created')).toEqual(atLeastOne);
  const before = received('ticket.created').length;
  const deletion = rest.pop();
  const statuses: number[][] = [];
  for (const { code } of rest) statuses.push((await run(code)).map(({ status }) => status));
  // Enable; pause and continue; rotate; the log; recover and redeliver.
  expect(statuses).toEqual([[200], [200, 200], [200], [200, 200], [202, 202]]);
  // Repeated deliveries have a signature of the old secret too.
  await expect.poll(() => received('ticket.created').length).toBeGreaterThan(before);
  expect(await run(deletion?.code ?? '')).toEqual([{ status: 200, json: { success: true } }]);
  expect(lines.filter((line) => !line.endsWith('verified → 204'))).toEqual([]);
});

test('the commands for the feed of changes work', async ({ skip }) => {
  if (isWithoutCurl) skip('curl is not installed');
  const createTicket = async () => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await system.fetch(`${system.url}/ticket`, {
      method: 'POST',
      headers,
      body: '{"channel":"portal"}',
    });
    expect(response.status).toBe(200);
  };
  await createTicket();
  for (const { code } of blocks('/event')) {
    for (const { status, json } of await run(code)) {
      expect({ status, json }).toEqual({ status: 200, json: { events: expect.any(Array), next: expect.any(String) } });
    }
  }
  /** Follows until there are events; returns the ids before their data. */
  const follow = async (name: string, environment?: Record<string, string>) => {
    const child = start(`exec ${guideSnippet(name)}`, environment);
    let output = '';
    child.stdout.on('data', (part: Buffer) => {
      output += part.toString();
    });
    await expect.poll(() => output).toMatch(/^event: ticket\.created\ndata: \{.*\}\n\n/m);
    child.kill();
    return [...output.matchAll(/^id: (.*)\nevent: /gm)].map(([, id = '']) => id);
  };
  const LAST_ID = (await follow('follow')).at(-1) ?? '';
  await createTicket();
  expect(await follow('resume', { LAST_ID })).not.toContain(LAST_ID);
});
