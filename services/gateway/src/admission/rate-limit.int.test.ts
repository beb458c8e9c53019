import { Agent } from 'node:http';
import { connect } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { type GatewayHarness, startHarness } from '../../test/harness.ts';

let harness: GatewayHarness | undefined;
let clock = 1_000_000;

afterEach(() => harness?.stop());

async function start(variables: Record<string, string>): Promise<GatewayHarness> {
  harness = await startHarness(variables, { monotonicMs: () => clock });
  return harness;
}

// spec: 40.4
// asvs: 2.4.1
it('counts each caller separately, with the limit of its kind, and shows the count in every response', async () => {
  const { call, identity } = await start({ RATE_LIMITS: 'user=2' });
  const as = async (sub: string, kind: string) => ({
    headers: { authorization: `Bearer ${await identity.issuerToken({ sub, kind })}` },
  });
  const readLimits = async (path: string, options: object) => {
    const { status, headers } = await call('GET', path, options);
    return [status, headers['ratelimit-limit'], headers['ratelimit-remaining'], headers['ratelimit-reset']];
  };
  const user = await as('7', 'user');
  expect(await readLimits('/ticket/1', user)).toEqual([200, '2', '1', '60']);
  clock += 15_500;
  expect(await readLimits('/nowhere', user)).toEqual([404, '2', '0', '45']);
  const refused = await call('GET', '/ticket/1', user);
  expect(refused.json).toMatchObject({ status: 429, code: 'rate_limited', title: 'Too many requests' });
  expect(refused.headers).toMatchObject({ 'retry-after': '45', 'ratelimit-remaining': '0' });

  expect(await readLimits('/ticket/1', await as('8', 'user'))).toEqual([200, '2', '1', '60']);
  expect(await readLimits('/ticket/1', await as('7', 'vendor'))).toEqual([200, '600', '599', '60']);
  expect(await readLimits('/ticket/1', await as('7', 'system'))).toEqual([200, '60000', '59999', '60']);

  clock += 44_500;
  expect(await readLimits('/ticket/1', user)).toEqual([200, '2', '1', '60']);
});

it('resets a minute after 601 requests, also if the clock of the machine is set back an hour', async () => {
  let date = Date.now();
  harness = await startHarness({}, { now: () => date, monotonicMs: () => clock });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const request = () => harness?.call('GET', '/ticket/1', { agent });
  for (let sent = 0; sent < 600; sent += 8) await Promise.all(Array.from({ length: 8 }, request));
  expect(await request()).toMatchObject({ status: 429, headers: { 'ratelimit-reset': '60' } });
  date -= 3_600_000;
  clock += 59_000;
  expect(await request()).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
  clock += 1_000;
  expect(await request()).toMatchObject({ status: 200, headers: { 'ratelimit-remaining': '599' } });
  agent.destroy();
});

it('counts a request as often as the response of its service says', async () => {
  const { call, stub } = await start({ RATE_LIMITS: 'user=100' });
  stub.next((_, response) => response.setHeader('ratelimit-cost', '98').end('{}'));
  const first = await call('POST', '/ticket/bulk', { headers: {}, body: '{}' });
  expect(first.headers).toMatchObject({ 'ratelimit-cost': '98', 'ratelimit-remaining': '2' });
  stub.next((_, response) => response.setHeader('ratelimit-cost', '50').end('{}'));
  expect(await call('GET', '/ticket/1')).toMatchObject({ status: 200, headers: { 'ratelimit-remaining': '0' } });
  expect(await call('GET', '/ticket/1')).toMatchObject({ status: 429 });
});

it('counts requests with a header and with a cookie together', async () => {
  const { callBare, bearer } = await start({});
  const headers = { cookie: `__Host-ticketing_session=${bearer.slice(7)}` };
  expect((await callBare('GET', '/ticket/1', { headers })).headers['ratelimit-remaining']).toBe('599');
  const response = await callBare('POST', '/ticket', { headers });
  expect(response.status).toBe(403);
  expect(response.headers['ratelimit-remaining']).toBe('598');
  expect(
    (await callBare('GET', '/ticket/1', { headers: { authorization: bearer } })).headers['ratelimit-remaining'],
  ).toBe('597');
});

it('verifies no more tokens from an address that has sent too many invalid ones', async () => {
  const { call } = await start({ FAILED_TOKENS_PER_MINUTE: '2' });
  const guess = { headers: { authorization: 'Bearer x.y.z' } };
  expect((await call('GET', '/ticket/1', guess)).status).toBe(401);
  expect((await call('GET', '/ticket/1', guess)).status).toBe(401);
  const refused = await call('GET', '/ticket/1');
  expect(refused.json).toMatchObject({ status: 429, code: 'rate_limited' });
  expect(refused.headers['retry-after']).toBe('60');
  expect((await call('GET', '/healthz')).status).toBe(200);
  clock += 60_000;
  expect((await call('GET', '/ticket/1')).status).toBe(200);
});

// guarantee: B1, I35
it('serves others while one caller sends slowly, and refuses that caller beyond its concurrency limit', async () => {
  const { gateway, call, identity } = await start({});
  const slow = `Bearer ${await identity.issuerToken({ sub: '77' })}`;
  const sockets = Array.from({ length: 40 }, () => connect(gateway.ports.http, '127.0.0.1'));
  const responses: string[] = [];
  for (const socket of sockets) {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => responses.push(bytes.toString()));
    socket.write(
      `POST /ticket HTTP/1.1\r\nhost: x\r\nauthorization: ${slow}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`,
    );
  }
  try {
    await vi.waitFor(() => expect(responses).toHaveLength(8), { timeout: 30_000 });
    for (const response of responses) expect(response).toMatch(/^HTTP\/1.1 429 .*"too_many_at_once"/s);
    expect((await call('GET', '/ticket/1')).status).toBe(200);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});
