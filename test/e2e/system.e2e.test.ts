import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, METHODS, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import {
  GetTicketRequestSchema,
  GetTicketResponseSchema,
} from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { documentCheck } from '@ticketing/testkit/checked-fetch.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listedMetrics } from '../../tools/observability/metric-list.ts';
import { type System, startSystem } from './harness.ts';
import { exposedMetrics } from './metrics.ts';
import { type OtlpCollector, startOtlpCollector } from './otlp-collector.ts';
import { pathTo } from './traces.ts';

const run = promisify(execFile);
let system: System;
/** The collector to which the system sends its traces. */
let collector: OtlpCollector;
let token: string;

beforeAll(async () => {
  collector = await startOtlpCollector();
  system = await startSystem({
    standardVariables: { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  });
  token = await system.identity.issuerToken({ roleId: 1 });
});
afterAll(async () => {
  await system?.stop();
  await collector?.stop();
});

async function call(method: string, path: string, options: { body?: object; headers?: Record<string, string> } = {}) {
  const response = await system.fetch(system.url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(options.body ? { 'content-type': 'application/json' } : {}),
      ...options.headers,
    },
    ...(options.body ? { body: JSON.stringify(options.body) } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text.startsWith('{') ? JSON.parse(text) : text };
}

// spec: 2.5
test('a ticket is created, read and found through the gateway', async () => {
  const tag = await call('POST', '/tag', { body: { name: 'Zähler' } });
  const created = await call('POST', '/ticket', {
    body: {
      channel: 'email',
      from: 'kim@example.com',
      subject: 'Zählerstand',
      body: '<b>4711</b>',
      tags: [tag.json.id],
    },
  });
  expect(created.status).toBe(200);
  expect(created.headers.get('etag')).toBe('"1"');
  expect(created.headers.get('ratelimit-limit')).toBe('600');
  const got = await call('GET', `/ticket/${created.json.id}`);
  expect(got.json).toEqual({ ...created.json, prevTicketId: null, nextTicketId: null, sessions: [] });
  const found = await call('POST', '/ticket/search', {
    body: { filters: [{ key: 'q', comparator: '=', value: 'zahlerstand' }] },
  });
  expect(found.json).toMatchObject({ total: 1, tickets: [{ id: created.json.id, tags: [{ name: 'Zähler' }] }] });
});

// spec: 37.2
test('a browser session reads by cookie, and writes from its own origin only', async () => {
  const session = await call('POST', '/auth/session');
  const cookie = session.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^__Host-ticketing_session=\S+;.*HttpOnly/);
  const withCookie = (site: string) => ({ cookie: cookie.split(';')[0] ?? '', 'sec-fetch-site': site });
  const status = async (method: string, site: string) =>
    (
      await system.fetch(`${system.url}/ticket${method === 'GET' ? '/1' : ''}`, {
        method,
        headers: { ...withCookie(site), 'content-type': 'application/json' },
        ...(method === 'GET' ? {} : { body: '{"channel":"portal"}' }),
      })
    ).status;
  expect(await status('GET', 'cross-site')).toBe(200);
  expect(await status('POST', 'same-origin')).toBe(200);
  expect(await status('POST', 'cross-site')).toBe(403);
  expect(await status('POST', 'same-site')).toBe(403);
});

// spec: 18.1
test('without a credential, only health, the OpenAPI document and the reference page are served', async () => {
  const status = async (path: string) => (await system.fetch(system.url + path)).status;
  for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs'])
    expect([path, await status(path)]).toEqual([path, 200]);
  for (const path of ['/ticket/1', '/tag', '/metrics', '/nothing']) expect(await status(path), path).toBe(401);
  expect(await status('/ticket/1')).toBe(401);
});

test('every method that a path does not support is refused with 405', async () => {
  const check = await documentCheck(`${system.url}/openapi.json`);
  const send = async (method: string, path: string) => {
    const outgoing = request(system.url + path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      agent: false,
    });
    const responded = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    outgoing.end();
    const [incoming] = await responded;
    const { statusCode: status = 0, headers } = incoming;
    check({ method, path, status, headers: new Headers(headers as HeadersInit), body: await buffer(incoming) });
    return [status, headers.allow];
  };
  for (const method of METHODS) {
    // A CONNECT request has no path; Node ends its connection.
    if (method === 'CONNECT') continue;
    if (!['POST', 'PATCH'].includes(method))
      expect([method, ...(await send(method, '/ticket'))]).toEqual([method, 405, 'POST, PATCH']);
    expect([method, ...(await send(method, '/ticket/of/no/contract'))]).toEqual([method, 404, undefined]);
  }
});

test('a native gRPC client reads a ticket from the service directly, without the gateway', async () => {
  const created = await call('POST', '/ticket', { body: { channel: 'chat', subject: 'gRPC' } });
  const client = new Client(`127.0.0.1:${system.findPorts('tickets').grpc}`, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const responseBytes = await new Promise<Buffer>((resolve, reject) => {
    client.makeUnaryRequest<Buffer, Buffer>(
      '/ticketing.tickets.v1.TicketService/GetTicket',
      (message) => message,
      (bytes) => bytes,
      Buffer.from(
        toBinary(GetTicketRequestSchema, {
          $typeName: 'ticketing.tickets.v1.GetTicketRequest',
          ticketId: created.json.id,
        }),
      ),
      metadata,
      (error, bytes) => (error || !bytes ? reject(error) : resolve(bytes)),
    );
  });
  client.close();
  const { ticket } = fromBinary(GetTicketResponseSchema, responseBytes);
  expect(ticket).toMatchObject({ id: created.json.id, subject: 'gRPC', version: 1 });
});

// guarantee: S6
test('a change is one trace from the gateway to the row of reporting and the receiver of a webhook', async () => {
  const receiver = createServer((incoming, outgoing) => {
    received.push(incoming.headers.traceparent);
    outgoing.end();
  });
  const received: unknown[] = [];
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const hook = await call('POST', '/webhook', {
    body: { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, eventTypes: ['ticket.created'] },
  });
  const traceId = 'c0ffee'.padEnd(32, '1');
  const client = 'b'.repeat(16);
  // The client does not record the trace, the system does, and says so to the receiver.
  const headers = { traceparent: `00-${traceId}-${client}-00` };
  await call('POST', '/ticket', { body: { channel: 'chat', subject: 'geheimer Betreff' }, headers });
  const all = () => collector.spans.filter((span) => span.traceId === traceId);
  // The span of the client is in no collector of ours.
  const paths = () =>
    all().flatMap((span) => {
      const found = pathTo(
        [...all(), { ...span, spanId: client, parentSpanId: '', service: 'client', name: 'call' }],
        span,
      );
      return found ? [found.join(' > ')] : [];
    });
  const created = 'client: call > gateway: POST /ticket > tickets: POST /ticket';
  const published = `${created} > tickets: publish ticketing.ticket.changed.v1`;
  const handled = `${published} > reporting: process ticketing.ticket.changed.v1`;
  const read = `${handled} > reporting: ticketing.tickets.v1.SnapshotService/`;
  await expect
    .poll(paths)
    .toEqual(
      expect.arrayContaining([
        expect.stringMatching(`^${created}$`),
        expect.stringMatching(`^${created} > tickets: insert tickets$`),
        expect.stringMatching(`^${published}$`),
        expect.stringMatching(`^${handled}$`),
        expect.stringMatching(`^${read}\\w+ > tickets: ticketing.tickets.v1.SnapshotService/\\w+$`),
        expect.stringMatching(`^${handled} > reporting: insert rows\\d+$`),
        expect.stringMatching(`^${published} > settings: POST webhook$`),
      ]),
    );
  expect(received).toContainEqual(expect.stringMatching(`^00-${traceId}-[0-9a-f]{16}-01$`));
  expect(JSON.stringify(collector.spans)).not.toMatch(/geheim|Bearer|eyJ|kim@example/);
  await call('DELETE', `/webhook/${hook.json.id ?? hook.json.webhook?.id}`);
  receiver.closeAllConnections();
  receiver.close();
});

// guarantee: S1
test('the processes expose the metrics that the documentation lists, with the same words, and no others', async () => {
  const byName = (left: { name: string }, right: { name: string }) => left.name.localeCompare(right.name);
  const listed = (await listedMetrics()).map((metric) => ({ ...metric, services: metric.services.toSorted() }));
  const exposed = (await exposedMetrics(system)).map((metric) => ({ ...metric, services: metric.services.toSorted() }));
  expect(exposed.sort(byName)).toEqual(listed.sort(byName));
});

test('the OpenAPI document passes a linter', async () => {
  const { json } = await call('GET', '/openapi.json');
  expect(Object.keys(json.paths)).toEqual(
    expect.arrayContaining(['/ticket', '/ticket/search', '/ticket/{ticketId}', '/tag', '/auth/session']),
  );
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-openapi-'));
  try {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(json));
    writeFileSync(join(folder, 'redocly.yaml'), 'extends: [recommended]\ntelemetry: off\n');
    await run('redocly', ['lint', 'openapi.json', '--config', 'redocly.yaml'], { cwd: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

test.skipIf(chromium === undefined)('a browser shows the reference page (needs chromium)', async () => {
  const args = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--virtual-time-budget=10000',
    '--dump-dom',
    `${system.url}/docs`,
  ];
  const { stdout: page } = await run(chromium ?? '', args, { maxBuffer: 50_000_000 });
  expect(page).toContain('/ticket/search');
  expect(page).toContain('Creates a ticket');
  expect(page).toMatch(/<h[12] class="title">Ticketing API/);
  expect(page).not.toMatch(/class="topbar|swagger-ui-logo|Explore/);
});
