import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createAuthority } from '@ticketing/testkit/certificate-authority.ts';
import { describe, expect, it, vi } from 'vitest';
import type { OutboundRequest } from '../src/outbound-request.ts';
import { openGuard, startRawReceiver, startReceiver } from './receiver.ts';

const get: Omit<OutboundRequest, 'url'> = {
  method: 'GET',
  deadlineMs: 10_000,
  maxResponseBytes: 1024,
  longResponse: 'refuse',
  maxRedirects: 0,
};

describe('the addresses of a name', () => {
  // guarantee: O2
  // asvs: 1.3.6
  it('are resolved once per connection, so that a changed answer is checked before it is dialled', async () => {
    const receiver = await startReceiver((_request, response) => response.setHeader('connection', 'close').end('ok'));
    const resolve = vi.fn<(name: string) => Promise<string[]>>();
    resolve.mockResolvedValueOnce(['127.0.0.1']).mockResolvedValue(['127.0.0.2']);
    const guard = openGuard({ allowed: '127.0.0.1/32', resolve });
    const url = `http://rebinding.example:${receiver.port}/`;
    expect(await guard.request({ ...get, url })).toMatchObject({ status: 200, address: '127.0.0.1' });
    expect(resolve).toHaveBeenCalledTimes(1);
    await expect.poll(() => receiver.open()).toBe(0);
    await expect(guard.request({ ...get, url })).rejects.toMatchObject({
      kind: 'address_refused',
      code: 'SPECIAL_ADDRESS',
      address: undefined,
    });
    expect(resolve).toHaveBeenCalledTimes(2);
    expect(receiver.sockets).toHaveLength(1);
  });

  // guarantee: O2
  it('are all refused if one of them is', async () => {
    const receiver = await startReceiver((_request, response) => response.end('ok'));
    const guard = openGuard({ allowed: '127.0.0.1/32', resolve: async () => ['127.0.0.1', '10.0.0.1'] });
    const request = guard.request({ ...get, url: `http://mixed.example:${receiver.port}/` });
    await expect(request).rejects.toMatchObject({ kind: 'address_refused' });
    expect(receiver.sockets).toHaveLength(0);
  });

  it('are dialled one after the other until one accepts', async () => {
    const receiver = await startReceiver((_request, response) => response.end('ok'));
    const guard = openGuard({ resolve: async () => ['127.0.0.2', '127.0.0.1'] });
    const response = await guard.request({ ...get, url: `http://two.example:${receiver.port}/` });
    expect(response).toMatchObject({ status: 200, address: '127.0.0.1' });
  });

  // guarantee: O2
  it('of localhost are the loopback addresses, which are refused unless they are allowed', async () => {
    const receiver = await startReceiver((_request, response) => response.end('ok'));
    for (const host of ['localhost', 'localhost.', 'a.localhost']) {
      const request = openGuard({ allowed: '10.0.0.0/8' }).request({ ...get, url: `http://${host}:${receiver.port}/` });
      await expect(request).rejects.toMatchObject({ kind: 'address_refused', code: 'SPECIAL_ADDRESS' });
    }
    expect(receiver.sockets).toHaveLength(0);
    const guard = openGuard({ allow: ['127.0.0.0', '::'].map((address, index) => range(address, index)) });
    const response = await guard.request({ ...get, url: `http://localhost:${receiver.port}/` });
    expect(response).toMatchObject({ status: 200, address: '127.0.0.1' });
  });
});

const range = (address: string, index: number) =>
  ({ address, prefix: index === 0 ? 8 : 127, family: index === 0 ? 'ipv4' : 'ipv6' }) as const;

describe('a connection', () => {
  // guarantee: O8
  it('is used again by later requests', async () => {
    const receiver = await startReceiver((_request, response) => response.end('ok'));
    const guard = openGuard({});
    const url = `http://127.0.0.1:${receiver.port}/`;
    const worker = async () => {
      for (let count = 0; count < 50; count++) await guard.request({ ...get, url });
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    // A request that is made in the moment in which a response ends may need another connection.
    expect(receiver.sockets.length).toBeLessThanOrEqual(8);
  });

  // guarantee: O8
  it('is one of at most 64 to an origin; further requests wait', async () => {
    const waiting: (() => void)[] = [];
    const receiver = await startReceiver((_request, response) => void waiting.push(() => response.end('ok')));
    const guard = openGuard({});
    const url = `http://127.0.0.1:${receiver.port}/`;
    const responses = Promise.all(Array.from({ length: 65 }, () => guard.request({ ...get, url })));
    await vi.waitFor(() => expect(waiting).toHaveLength(64), { timeout: 30_000 });
    expect(receiver.sockets).toHaveLength(64);
    for (const respond of waiting.splice(0)) respond();
    await vi.waitFor(() => expect(waiting).toHaveLength(1), { timeout: 30_000 });
    waiting[0]?.();
    expect(await responses).toHaveLength(65);
    expect(receiver.sockets).toHaveLength(64);
  });

  it('that is refused is an error with the address', async () => {
    const receiver = await startReceiver(() => undefined);
    const { port } = receiver;
    const closed = await startRawReceiver(() => undefined);
    expect(closed.port).not.toBe(port);
    const guard = openGuard({});
    // Nothing listens at this address of the loopback range.
    const request = guard.request({ ...get, url: `http://127.0.0.9:${port}/` });
    await expect(request).rejects.toMatchObject({
      kind: 'connect_failed',
      code: 'ECONNREFUSED',
      address: '127.0.0.9',
      status: undefined,
      message: 'connect_failed (ECONNREFUSED)',
    });
  });

  it('that ends before the response is an error', async () => {
    const { port } = await startRawReceiver((socket) => socket.once('data', () => socket.end()));
    const request = openGuard({}).request({ ...get, url: `http://127.0.0.1:${port}/` });
    await expect(request).rejects.toMatchObject({ kind: 'protocol_error', address: '127.0.0.1', status: undefined });
  });
});

describe('TLS', () => {
  const authority = createAuthority('Trusted');
  const own = authority.issue(['127.0.0.1', 'good.example']);
  const resolve = async () => ['127.0.0.1'];

  // guarantee: O4
  it('is verified: an authority that is not known, and a certificate for another name, are refused', async () => {
    const { port } = await startReceiver((_request, response) => response.end('ok'), own);
    const guard = openGuard({ ca: authority.cert, resolve });
    for (const host of ['127.0.0.1', 'good.example']) {
      expect(await guard.request({ ...get, url: `https://${host}:${port}/` })).toMatchObject({ status: 200 });
    }
    await expect(guard.request({ ...get, url: `https://other.example:${port}/` })).rejects.toMatchObject({
      kind: 'tls_failed',
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    await expect(openGuard({}).request({ ...get, url: `https://127.0.0.1:${port}/` })).rejects.toMatchObject({
      kind: 'tls_failed',
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    });
  });

  // guarantee: O4
  // asvs: 12.3.2
  it('is verified even if NODE_TLS_REJECT_UNAUTHORIZED says otherwise', async () => {
    const { port } = await startReceiver((_request, response) => response.end('ok'), own);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    try {
      const request = openGuard({}).request({ ...get, url: `https://127.0.0.1:${port}/` });
      await expect(request).rejects.toMatchObject({ kind: 'tls_failed' });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('fails with a server that does not speak it', async () => {
    const { port } = await startReceiver((_request, response) => response.end('ok'));
    const request = openGuard({}).request({ ...get, url: `https://127.0.0.1:${port}/` });
    await expect(request).rejects.toMatchObject({ kind: 'tls_failed' });
  });

  it('that cannot be connected is not a failure of TLS', async () => {
    const { port } = await startReceiver(() => undefined, own);
    const request = openGuard({}).request({ ...get, url: `https://127.0.0.9:${port}/` });
    await expect(request).rejects.toMatchObject({ kind: 'connect_failed', code: 'ECONNREFUSED' });
  });
});

// guarantee: O10
it('ignores the variables for proxies, which fetch honours', async () => {
  // It tunnels to itself.
  const proxy = await startRawReceiver((socket) => {
    socket.on('data', (data) => {
      const isTunnel = data.toString().startsWith('CONNECT ');
      socket.write(
        isTunnel ? 'HTTP/1.1 200 OK\r\n\r\n' : 'HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\nfrom the proxy',
      );
    });
  });
  const receiver = await startReceiver((_request, response) => response.end('from the receiver'));
  const address = `http://127.0.0.1:${proxy.port}`;
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('./fetch-and-request.ts', import.meta.url)), `http://127.0.0.1:${receiver.port}/`],
    {
      env: { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, http_proxy: address, NO_PROXY: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(JSON.parse(output)).toEqual({ fetched: 'from the proxy', requested: 'from the receiver' });
});
