import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { OutboundRequest } from '../src/outbound-request.ts';
import { openGuard, startReceiver } from './receiver.ts';

const get: Omit<OutboundRequest, 'url'> = {
  method: 'GET',
  deadlineMs: 10_000,
  maxResponseBytes: 1000,
  longResponse: 'refuse',
  maxRedirects: 3,
};

/** A receiver that redirects the path `/<n>` n times, and any other path to the URL in the header `x-location`. */
async function startRedirecting() {
  const requests: IncomingMessage[] = [];
  const { port } = await startReceiver((request, response) => {
    requests.push(request);
    const left = Number(request.url?.slice(1));
    const location = left > 0 ? `/${left - 1}` : request.headers['x-location'];
    if (location === undefined) response.end('arrived');
    else response.writeHead(307, { location: String(location) }).end('a'.repeat(2000));
  });
  return { url: `http://127.0.0.1:${port}/`, port, requests };
}

describe('redirects', () => {
  // guarantee: O5
  it('are followed three times, and not once more', async () => {
    const { url, requests } = await startRedirecting();
    const guard = openGuard({});
    expect(await guard.request({ ...get, url: `${url}3` })).toMatchObject({
      status: 200,
      body: Buffer.from('arrived'),
    });
    expect(requests).toHaveLength(4);
    await expect(guard.request({ ...get, url: `${url}4` })).rejects.toMatchObject({
      kind: 'redirect_refused',
      code: 'TOO_MANY_REDIRECTS',
      status: 307,
    });
    expect(requests).toHaveLength(8);
  });

  // guarantee: O5
  // asvs: 15.3.2
  it('are not followed if none are allowed, nor for other methods than GET and HEAD', async () => {
    const { url, requests } = await startRedirecting();
    const guard = openGuard({});
    const cut = { ...get, url: `${url}1`, longResponse: 'cut' } as const;
    expect(await guard.request({ ...cut, maxRedirects: 0 })).toMatchObject({ status: 307, isComplete: false });
    expect(await guard.request({ ...cut, method: 'POST', body: 'x' })).toMatchObject({ status: 307 });
    expect(requests).toHaveLength(2);
    expect(await guard.request({ ...cut, method: 'HEAD' })).toMatchObject({ status: 200 });
  });

  it.each([
    ['http://169.254.169.254/latest/meta-data/', 'address_refused', 'ADDRESS_REFUSED'],
    ['http://0xa9fea9fe/', 'address_refused', 'ADDRESS_REFUSED'],
    ['//[fd00:ec2::254]/', 'address_refused', 'ADDRESS_REFUSED'],
    ['http://metadata.example/', 'address_refused', 'SPECIAL_ADDRESS'],
    ['http://user:secret@127.0.0.1/', 'redirect_refused', 'USER_INFO'],
    ['file:///etc/passwd', 'redirect_refused', 'INVALID_URL'],
    ['http://93.184.215.14/', 'redirect_refused', 'NOT_HTTPS'],
    ['http://[', 'redirect_refused', 'INVALID_URL'],
    ['', 'redirect_refused', 'INVALID_URL'],
    // guarantee: O5
  ])('to "%s" are refused: %s %s', async (location, kind, code) => {
    const { url, requests } = await startRedirecting();
    const guard = openGuard({ resolve: async () => ['169.254.169.254'] });
    const request = guard.request({ ...get, url, headers: { 'x-location': location } });
    await expect(request).rejects.toMatchObject({ kind, code });
    expect(requests).toHaveLength(1);
  });

  // guarantee: O5
  it('to another origin carry no headers that could be credentials', async () => {
    const first = await startRedirecting();
    const second = await startRedirecting();
    const headers = {
      authorization: 'Bearer a',
      cookie: 'a=b',
      'x-api-key': 'a',
      accept: 'image/*',
      'user-agent': 'test',
    };
    const guard = openGuard({});
    await guard.request({ ...get, url: `${first.url}1`, headers });
    await guard.request({ ...get, url: first.url, headers: { ...headers, 'x-location': second.url } });
    expect(first.requests.map((request) => request.headers)).toMatchObject([headers, headers, headers]);
    const host = `127.0.0.1:${second.port}`;
    expect(second.requests.map((request) => request.headers)).toEqual([
      { host, connection: 'keep-alive', accept: 'image/*', 'accept-encoding': 'identity', 'user-agent': 'test' },
    ]);
  });
});
