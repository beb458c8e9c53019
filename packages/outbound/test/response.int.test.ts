import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { withinBytes } from '@ticketing/testkit/machine-limits.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { describe, expect, it } from 'vitest';
import type { OutboundRequest } from '../src/outbound-request.ts';
import { openGuard, startRawReceiver, startReceiver } from './receiver.ts';

const limit = 1000;
const get: Omit<OutboundRequest, 'url'> = {
  method: 'GET',
  deadlineMs: 10_000,
  maxResponseBytes: limit,
  longResponse: 'refuse',
  maxRedirects: 0,
};
const at = (receiver: { port: number }) => `http://127.0.0.1:${receiver.port}/`;
const compress = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
const encodings = ['gzip', 'deflate', 'br'] as const;
const plainOrCompressed = ['identity', ...encodings] as const;

describe('a body', () => {
  // guarantee: O6
  it.each([true, false])('is accepted at the limit and refused one byte above it (with a length: %s)', async (has) => {
    const receiver = await startReceiver((request, response) => {
      const body = Buffer.alloc(limit + Number(request.headers['x-more'] ?? 0), 'a');
      if (has) response.end(body);
      else response.writeHead(200).write(body, () => response.end());
    });
    const guard = openGuard({});
    const whole = await guard.request({ ...get, url: at(receiver) });
    expect(whole).toMatchObject({ status: 200, isComplete: true, body: Buffer.alloc(limit, 'a') });
    const request = guard.request({ ...get, url: at(receiver), headers: { 'x-more': '1' } });
    await expect(request).rejects.toMatchObject({ kind: 'response_too_large', status: 200, address: '127.0.0.1' });
  });

  it('that is too long can be cut: its start is returned', async () => {
    const receiver = await startReceiver((_request, response) => response.end(Buffer.alloc(limit + 1, 'a')));
    const response = await openGuard({}).request({ ...get, url: at(receiver), longResponse: 'cut' });
    expect(response).toMatchObject({ status: 200, isComplete: false, body: Buffer.alloc(limit, 'a') });
  });

  // guarantee: O6
  it('that never ends is read up to the limit, and its connection is closed', async () => {
    const receiver = await startReceiver((_request, response) => {
      const send = () => {
        while (response.write(Buffer.alloc(64 * 1024)));
      };
      response.on('drain', send);
      send();
    });
    const guard = openGuard({});
    for (const longResponse of ['cut', 'refuse'] as const) {
      const outcome = guard.request({ ...get, url: at(receiver), longResponse });
      if (longResponse === 'cut') expect((await outcome).body).toHaveLength(limit);
      else await expect(outcome).rejects.toMatchObject({ kind: 'response_too_large' });
      await expect.poll(() => receiver.open()).toBe(0);
    }
  });

  it('whose chunks have endless extensions, or that only announces itself, is ended early', async () => {
    const endless = ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;', 'HTTP/1.1 103 Early Hints\r\n\r\n'];
    for (const [index, start] of endless.entries()) {
      const receiver = await startRawReceiver((socket: Socket) => {
        const piece = index === 0 ? 'a'.repeat(64 * 1024) : start.repeat(100);
        const send = () => {
          while (!socket.destroyed && socket.write(piece));
        };
        socket.on('error', () => undefined).on('drain', send);
        socket.write(start);
        send();
      });
      const request = openGuard({}).request({ ...get, url: at(receiver), longResponse: 'cut' });
      const kind = index === 0 ? 'response_too_large' : 'protocol_error';
      await expect(request).rejects.toMatchObject({ kind });
    }
  });

  it.each(plainOrCompressed)(
    // guarantee: B2
    'in chunks of one byte has as many as a body of its size may have (%s)',
    async (encoding) => {
      const receiver = await startRawReceiver((socket: Socket) => {
        const chunk = Buffer.from('1\r\na\r\n'.repeat(1000));
        const content = encoding === 'identity' ? '' : `content-encoding: ${encoding}\r\n`;
        socket.on('error', () => undefined);
        socket.write(`HTTP/1.1 200 OK\r\n${content}transfer-encoding: chunked\r\n\r\n`);
        // The beginning of a compressed body, of which nothing comes out.
        if (encoding !== 'identity')
          for (const byte of compress[encoding](seededBytes(500_000)).subarray(0, 20_000))
            socket.write(Buffer.of(0x31, 13, 10, byte, 13, 10));
        const send = () => {
          while (!socket.destroyed && socket.write(chunk));
        };
        socket.on('drain', send);
        send();
      });
      const request = openGuard({}).request({ ...get, url: at(receiver), maxResponseBytes: 1024 * 1024 });
      await expect(request).rejects.toMatchObject({ kind: 'protocol_error', code: 'TOO_MANY_PIECES' });
    },
  );

  it.each(encodings)('that was compressed with %s is decompressed, up to the limit', async (encoding) => {
    const bodies = [Buffer.alloc(limit, 'a'), Buffer.alloc(limit + 1, 'a')];
    const receiver = await startReceiver((_request, response) => {
      response.setHeader('content-encoding', encoding).end(compress[encoding](bodies.shift() ?? ''));
    });
    const guard = openGuard({});
    const whole = await guard.request({ ...get, url: at(receiver) });
    expect(whole).toMatchObject({ isComplete: true, body: Buffer.alloc(limit, 'a') });
    await expect(guard.request({ ...get, url: at(receiver) })).rejects.toMatchObject({ kind: 'response_too_large' });
  });

  // guarantee: O6
  it.each(encodings)('that is a bomb of %s is not decompressed beyond the limit', async (encoding) => {
    const bomb = compress[encoding](Buffer.alloc(64 * 1024 * 1024));
    const receiver = await startReceiver((_request, response) => {
      response.setHeader('content-encoding', encoding).end(bomb);
    });
    const guard = openGuard({});
    const largest = { ...get, url: at(receiver), maxResponseBytes: 1024 * 1024 };
    await withinBytes(32 * 1024 * 1024, async () => {
      await expect(guard.request(largest)).rejects.toMatchObject({ kind: 'response_too_large' });
      const cut = await guard.request({ ...largest, longResponse: 'cut' });
      expect(cut.body).toHaveLength(1024 * 1024);
    });
  });

  // guarantee: O6
  it('of endless compressed nothing is refused too', async () => {
    const nothing = gzipSync('');
    const receiver = await startReceiver((_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      const send = () => {
        while (response.write(nothing));
      };
      response.on('drain', send);
      send();
    });
    const request = openGuard({}).request({ ...get, url: at(receiver) });
    await expect(request).rejects.toMatchObject({ kind: 'response_too_large' });
  });

  it.each([
    ['gzip', Buffer.from('this is not gzip'), 'INVALID_COMPRESSION'],
    ['gzip', gzipSync(Buffer.alloc(500, 'a')).subarray(0, 20), 'INVALID_COMPRESSION'],
    ['zstd', Buffer.from('x'), 'UNKNOWN_ENCODING'],
    ['gzip, gzip', gzipSync(gzipSync('x')), 'UNKNOWN_ENCODING'],
  ])('that cannot be decompressed is an error, with the status: %s', async (encoding, body, code) => {
    const receiver = await startReceiver((_request, response) => {
      response.setHeader('content-encoding', encoding).end(body);
    });
    const request = openGuard({}).request({ ...get, url: at(receiver) });
    await expect(request).rejects.toMatchObject({ kind: 'protocol_error', code, status: 200 });
  });

  it.each(['HEAD', 'GET'] as const)('that is empty needs no decompression (%s)', async (method) => {
    const receiver = await startReceiver((_request, response) => {
      response.writeHead(method === 'HEAD' ? 200 : 204, { 'content-encoding': 'gzip' }).end();
    });
    const response = await openGuard({}).request({ ...get, method, url: at(receiver) });
    expect(response).toMatchObject({ isComplete: true, body: Buffer.alloc(0) });
  });
});

describe('the deadline', () => {
  const deadlineMs = 400;

  it.each<[string, Parameters<typeof startRawReceiver>[0]]>([
    ['a server that accepts and says nothing', () => undefined],
    ['headers that never end', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'a: b\r\n')],
    ['a body that comes slowly', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n', 'a')],
    ['a chunked body that comes slowly', (socket) => drip(socket, chunked, '1\r\na\r\n')],
    // guarantee: O7
  ])('ends %s', async (_name, onConnection) => {
    const receiver = await startRawReceiver(onConnection);
    const request = openGuard({}).request({ ...get, url: at(receiver), deadlineMs });
    await expect(request).rejects.toMatchObject({ kind: 'timeout', address: '127.0.0.1' });
    await expect.poll(() => receiver.open()).toBe(0);
  });

  // guarantee: O7
  it('covers all redirects together', async () => {
    const receiver = await startReceiver((_request, response) => {
      setTimeout(() => response.writeHead(302, { location: '/' }).end(), 150);
    });
    const request = openGuard({}).request({ ...get, url: at(receiver), deadlineMs, maxRedirects: 3 });
    await expect(request).rejects.toMatchObject({ kind: 'timeout' });
  });

  // guarantee: O7
  it('covers name servers that do not respond', async () => {
    const guard = openGuard({ resolve: () => new Promise(() => undefined) });
    const request = guard.request({ ...get, url: 'https://slow.example/', deadlineMs });
    await expect(request).rejects.toMatchObject({ kind: 'timeout', address: undefined });
  });
});

const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

function drip(socket: Socket, first: string, next: string): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(next), 20);
  socket.on('close', () => clearInterval(timer));
}

describe('headers', () => {
  it('above 16 KiB are an error', async () => {
    const receiver = await startRawReceiver((socket) => {
      const send = () => {
        while (!socket.destroyed && socket.write(`${'a: b\r\n'.repeat(100)}`));
      };
      socket.write('HTTP/1.1 200 OK\r\n');
      socket.on('drain', send);
      send();
    });
    const request = openGuard({}).request({ ...get, url: at(receiver) });
    await expect(request).rejects.toMatchObject({ kind: 'protocol_error', code: 'UND_ERR_HEADERS_OVERFLOW' });
    await expect.poll(() => receiver.open()).toBe(0);
  });

  it('that cannot be sent are an error that does not repeat them', async () => {
    const headers = { authorization: 'Bearer secret\r\nx: y' };
    const request = openGuard({}).request({ ...get, url: 'http://127.0.0.1:1/', headers });
    await expect(request).rejects.toMatchObject({
      kind: 'request_refused',
      message: expect.not.stringMatching('secret'),
    });
  });
});

it.each([
  ['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['a body that is too short', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'],
])('a response with %s is an error', async (_name, response) => {
  const receiver = await startRawReceiver((socket) => socket.once('data', () => socket.end(response)));
  await expect(openGuard({}).request({ ...get, url: at(receiver) })).rejects.toMatchObject({ kind: 'protocol_error' });
});

it('sends method, headers and the bytes of the body as they are', async () => {
  const received: unknown[] = [];
  const receiver = await startReceiver(async (request, response) => {
    const { method, url, headers } = request;
    const body = await text(request);
    received.push({ method, url, signature: headers['webhook-signature'], length: headers['content-length'], body });
    response.writeHead(410, { 'x-a': 'b' }).end('gone');
  });
  const response = await openGuard({}).request({
    ...get,
    url: `${at(receiver)}hook?a=%20b#c`,
    method: 'POST',
    headers: { 'webhook-signature': 'v1,abc' },
    body: '{"é":1}',
  });
  expect(received).toEqual([
    { method: 'POST', url: '/hook?a=%20b', signature: 'v1,abc', length: '8', body: '{"é":1}' },
  ]);
  expect(response).toMatchObject({ status: 410, headers: { 'x-a': 'b' }, body: Buffer.from('gone'), isComplete: true });
  expect(response.durationMs).toBeGreaterThanOrEqual(0);
});

it('ends when its signal is aborted, before and while it is sent, with the reason of the signal', async () => {
  const receiver = await startReceiver(() => undefined);
  const guard = openGuard({});
  const reason = new Error('stopping');
  await expect(guard.request({ ...get, url: at(receiver), signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(receiver.sockets).toHaveLength(0);
  const stop = new AbortController();
  const request = guard.request({ ...get, url: at(receiver), signal: stop.signal });
  await Promise.all([
    expect(request).rejects.toBe(reason),
    expect
      .poll(() => receiver.sockets)
      .toHaveLength(1)
      .then(() => stop.abort(reason)),
  ]);
  await expect.poll(() => receiver.open()).toBe(0);
});

it('a guard completes its requests before it closes, and refuses further ones', async () => {
  const arrived = Promise.withResolvers<ServerResponse>();
  const receiver = await startReceiver((_request, response) => arrived.resolve(response));
  const guard = openGuard({});
  const request = guard.request({ ...get, url: at(receiver) });
  await expect.poll(() => receiver.sockets).toHaveLength(1);
  const closed = guard.close();
  (await arrived.promise).end('ok');
  expect(await request).toMatchObject({ status: 200 });
  await closed;
  await expect(guard.request({ ...get, url: at(receiver) })).rejects.toMatchObject({ code: 'CLOSED' });
  await expect.poll(() => receiver.open()).toBe(0);
});
