import { afterEach, describe, expect, it, vi } from 'vitest';
import { type GatewayHarness, startHarness } from '../test/harness.ts';
import { sendRaw } from '../test/http-client.ts';
import { findLast } from '../test/stub-service.ts';

let harness: GatewayHarness | undefined;

afterEach(() => harness?.stop());

/** Starts a gateway that verifies no more tokens of an address after two invalid ones. The peer is always 127.0.0.1. */
async function start(trustedProxies: string) {
  const started = await startHarness({ FAILED_TOKENS_PER_MINUTE: '2', TRUSTED_PROXIES: trustedProxies });
  harness = started;
  const readStatus = async (forwardedFor: string, headers = {}) =>
    (await started.call('GET', '/ticket/1', { headers: { 'x-forwarded-for': forwardedFor, ...headers } })).status;
  return {
    ...started,
    readStatus,
    /** Sends a request with an invalid token. */
    guess: (forwardedFor: string) => readStatus(forwardedFor, { authorization: 'Bearer x.y.z' }),
  };
}

describe('behind a trusted proxy', () => {
  // asvs: 15.3.4
  it('a client that has used up its invalid tokens is refused, and another one does not notice', async () => {
    const { guess, readStatus } = await start('127.0.0.0/8');
    expect(await guess('203.0.113.7')).toBe(401);
    expect(await guess('203.0.113.7')).toBe(401);
    expect(await guess('203.0.113.7')).toBe(429);
    expect(await readStatus('203.0.113.7')).toBe(429);
    expect(await readStatus('203.0.113.8')).toBe(200);
    expect(await readStatus('2001:db8::1')).toBe(200);
  });

  // asvs: 15.3.4
  it('a client cannot pretend another address by a header of its own, whatever it holds', async () => {
    const { guess, readStatus } = await start('127.0.0.1');
    expect(await guess('198.51.100.1, 203.0.113.7')).toBe(401);
    expect(await guess('127.0.0.1, 198.51.100.2,203.0.113.7')).toBe(401);
    for (const own of ['198.51.100.3', '127.0.0.1', 'unknown', '', ',', '"', '203.0.113.7, 127.0.0.1']) {
      expect(await guess(`${own}, 203.0.113.7`), own).toBe(429);
    }
    expect(await readStatus('198.51.100.1')).toBe(200);
    expect(await readStatus('198.51.100.2')).toBe(200);
  });

  it('a client cannot pretend another address by a second header line', async () => {
    const { guess, readStatus, gateway } = await start('127.0.0.1');
    expect(await guess('203.0.113.7')).toBe(401);
    const lines = ['x-forwarded-for: 198.51.100.1', 'X-Forwarded-For: 203.0.113.7', 'authorization: Bearer x.y.z'];
    const request = `GET /ticket/1 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${lines.join('\r\n')}\r\n\r\n`;
    expect(await sendRaw(gateway.ports.http, request)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await guess('203.0.113.7')).toBe(429);
    expect(await readStatus('198.51.100.1')).toBe(200);
  });

  it('the client is the last address before several proxies in a row, also where addresses are IPv4-mapped', async () => {
    const { guess, readStatus } = await start('127.0.0.1, 10.0.0.0/8, fd00::/8');
    expect(await guess('203.0.113.7, 10.1.2.3, fd00::5')).toBe(401);
    expect(await guess('10.9.9.9, ::ffff:203.0.113.7, ::ffff:10.1.2.3')).toBe(401);
    expect(await guess('203.0.113.7, 10.200.0.1')).toBe(429);
    expect(await readStatus('203.0.113.7, 11.0.0.1')).toBe(200);
  });

  it('a client among the trusted proxies is the first address', async () => {
    const { guess, readStatus } = await start('127.0.0.1,10.0.0.0/8');
    expect(await guess('10.0.0.1, 10.0.0.2')).toBe(401);
    expect(await guess('10.0.0.1')).toBe(401);
    expect(await guess('10.0.0.1, 10.0.0.3')).toBe(429);
    expect(await readStatus('10.0.0.2')).toBe(200);
  });

  it.each(['unknown', '', '203.0.113', '203.0.113.7:4711', '[2001:db8::1]', '203.0.113.7;', '203.0.113.7,', '0x7f.1'])(
    'the peer counts if the proxy has sent "%s", which is no address',
    async (malformed) => {
      const { guess, call, readStatus } = await start('127.0.0.1');
      expect(await guess(malformed)).toBe(401);
      expect(await guess(malformed)).toBe(401);
      expect((await call('GET', '/ticket/1')).status).toBe(429);
      expect(await readStatus('203.0.113.7')).toBe(200);
    },
  );

  // asvs: 15.3.4
  it('a service gets the address of the client and no other', async () => {
    const { readStatus, stub } = await start('127.0.0.1');
    expect(await readStatus('198.51.100.1, 203.0.113.7')).toBe(200);
    expect(findLast(stub).headers['x-forwarded-for']).toBe('203.0.113.7');
  });

  // asvs: 15.3.4
  it('a refusal is logged with the address of the client', async () => {
    const { guess, gateway } = await start('127.0.0.1');
    const info = vi.spyOn(gateway.log, 'info');
    await guess('198.51.100.1, 203.0.113.7');
    await guess('unknown');
    const addresses = info.mock.calls
      .filter(([, message]) => message === 'a request was refused')
      .map(([fields]) => fields);
    expect(addresses).toMatchObject([{ address: '203.0.113.7' }, { address: '127.0.0.1' }]);
  });

  // asvs: 4.1.3
  it('a page of another origin cannot pass for one of the same by a header of the proxy', async () => {
    const { callBare, bearer } = await start('127.0.0.1');
    const { status, json } = await callBare('DELETE', '/ticket/1', {
      headers: {
        cookie: `__Host-ticketing_session=${bearer.slice(7)}`,
        origin: 'https://evil.example',
        'x-forwarded-for': '203.0.113.7',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
      },
    });
    expect([status, json.code]).toEqual([403, 'cross_site_request']);
  });
});

it.each(['', '10.0.0.0/8', '::/0'])(
  // asvs: 4.1.3
  'a header of a peer outside of the trusted proxies %j is not believed',
  async (trusted) => {
    const { guess, readStatus } = await start(trusted);
    expect(await guess('203.0.113.7')).toBe(401);
    expect(await guess('203.0.113.8')).toBe(401);
    expect(await guess('203.0.113.9')).toBe(429);
    expect(await readStatus('203.0.113.10')).toBe(429);
  },
);
