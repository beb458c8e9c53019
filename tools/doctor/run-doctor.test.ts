import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { command } from '../cli/doctor.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A server with these responses: the status and the body of each path; 401 for all others. */
async function serve(responses: Record<string, [number, string]>): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const [status, body] = responses[url] ?? [401, '{}'];
    response.writeHead(status).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  stops.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function examine(url: string): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const code = await command([url], {
    env: {},
    print: (line) => lines.push(line),
    printError: (line) => lines.push(line),
  });
  return { code, text: lines.join('\n') };
}

const ready = (dependencies: Record<string, string>) => JSON.stringify({ status: 'ready', dependencies });

test('says of the address of the gateway that it is for clients, and what it wants instead', async () => {
  const url = await serve({ '/readyz': [200, ready({ mongodb: 'up' })] });
  const { code, text } = await examine(url);
  expect(code).toBe(1);
  expect(text).toContain(`1 of 1 processes respond\nnothing wrong was found\n\n${url} is an address for clients.`);
  expect(text).toContain('TICKETING_<SERVICE>_INTERNAL_PORT');
});

test('reports what the readiness of such an address says', async () => {
  const url = await serve({ '/readyz': [503, ready({ mongodb: 'down' })], '/metrics': [404, ''] });
  const { text } = await examine(url);
  expect(text).toContain(`the process at ${url} does not reach mongodb`);
  expect(text).not.toContain('nothing wrong');
});

test('says of another server that it is no part of the system', async () => {
  for (const responses of [{}, { '/readyz': [200, '<html>'] }] satisfies Record<string, [number, string]>[]) {
    const url = await serve(responses);
    const { code, text } = await examine(url);
    expect([code, text]).toEqual([1, expect.stringContaining(`${url} is not the internal port of a process of this`)]);
  }
});
