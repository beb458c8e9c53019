import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Client, startClient } from './clients.ts';
import { readRecords } from './record-file.ts';

/** How many events the feed has. Cursors are their numbers. */
let count: number;
let statuses: number[];
/** The cursors with which readers have begun or continued. */
let cursors: string[];
let folder: string;
let file: string;
let server: Server;
let client: Client | undefined;

const eventsAfter = (cursor: string) =>
  Array.from({ length: count }, (_, index) => index + 1).filter((number) => number > Number(cursor));

beforeEach(async () => {
  [count, statuses, cursors] = [2, [], []];
  folder = mkdtempSync(join(tmpdir(), 'feed-reader-'));
  file = join(folder, 'received');
  server = createServer((request, response) => {
    const after = new URL(request.url ?? '', 'http://feed').searchParams.get('after') ?? '0';
    const cursor = String(request.headers['last-event-id'] ?? after);
    cursors.push(cursor);
    const status = statuses.shift() ?? 200;
    const events = eventsAfter(cursor);
    if (status !== 200) response.writeHead(status).end('no');
    else if (request.headers.accept === 'text/event-stream') {
      response.write(`id: ${cursor}\n\n${events.map((id) => `id: ${id}\ndata: {"number":${id}}\n\n`).join('')}`);
    } else response.end(JSON.stringify({ events: events.map((number) => ({ number })), next: String(count) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await client?.stop();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

function startReader(kind: string): Client {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const log = { listen: () => undefined };
  return startClient({ name: 'reader', program: 'feed-reader.ts', args: [kind, url, file], variables: {}, log });
}

const recorded = () => readRecords(file).flatMap(({ event, problem }) => event ?? problem ?? []);
const numbered = (...numbers: number[]) => numbers.map((number) => ({ number }));

test.each(['pages', 'stream'])('a reader of %s continues after its last cursor when it was killed', async (kind) => {
  client = startReader(kind);
  await expect.poll(recorded).toEqual(numbered(1, 2));
  await client.stop();
  cursors = [];
  count = 4;
  client = startReader(kind);
  await expect.poll(recorded).toEqual(numbered(1, 2, 3, 4));
  expect(cursors[0]).toBe('2');
});

test.each(['pages', 'stream'])(
  'a reader of %s tries again, and notes a refusal that no fault explains',
  async (kind) => {
    statuses = [503, 400];
    client = startReader(kind);
    await expect.poll(recorded).toEqual(['the feed responds with 400: no', ...numbered(1, 2)]);
  },
);
