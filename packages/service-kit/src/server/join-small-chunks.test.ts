import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHttpServer } from './http-server.ts';

let app = createHttpServer();
let pieces: Buffer[] = [];
beforeEach(async () => {
  app = createHttpServer();
  pieces = [];
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => {
    body.on('data', (piece: Buffer) => pieces.push(piece)).once('end', () => done(null, Buffer.concat(pieces)));
  });
  app.post('/', async ({ body }) => (body as Buffer).toString('latin1'));
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => app.close());

/** Sends a body in chunks, in one write, and returns the body of the response. */
async function send(chunks: readonly string[]): Promise<string> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const body = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
  const head =
    'POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: a/b\r\ntransfer-encoding: chunked\r\n\r\n';
  socket.write(`${head}${body}0\r\n\r\n`, 'latin1');
  const response = await text(socket);
  return response.slice(response.indexOf('\r\n\r\n') + 4);
}

// guarantee: B2
test('chunks of one byte arrive in few pieces, and none is lost', async () => {
  const chunks = Array.from({ length: 30_000 }, (_, index) => String.fromCharCode(97 + (index % 26)));
  expect(await send(chunks)).toBe(chunks.join(''));
  expect(pieces.length).toBeLessThan(200);
});

test('small and large chunks keep their order', async () => {
  const chunks = Array.from({ length: 60 }, (_, index) => String(index % 10).repeat(index % 7 === 0 ? 40_000 : 3));
  expect(await send(chunks)).toBe(chunks.join(''));
});
