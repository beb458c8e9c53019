import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunMessage } from './wire-connection.ts';
import { listen, loopbackHost, type WireServer } from './wire-server.ts';

let server: WireServer;

afterEach(() => server.close());

/** Replies with the body of the request, once `gate` resolves. */
function echo({ gate = Promise.resolve(), moreToCome = false } = {}): RunMessage {
  return async (message) => {
    if (message.readInt32LE(4) === 666) throw new Error('unreadable');
    await gate;
    return { requestId: message.readInt32LE(4), moreToCome, legacy: false, response: message.subarray(16) };
  };
}

function request(id: number, body = Buffer.from('body')): Buffer {
  const header = Buffer.alloc(16);
  header.writeInt32LE(header.length + body.length, 0);
  header.writeInt32LE(id, 4);
  return Buffer.concat([header, body]);
}

async function dial(): Promise<Socket> {
  const socket = connect({ port: server.port, host: loopbackHost });
  await once(socket, 'connect');
  return socket;
}

function repliedIds(bytes: Buffer): number[] {
  const ids: number[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at)) ids.push(bytes.readInt32LE(at + 8));
  return ids;
}

describe('listen', () => {
  it('replies to pipelined messages in their order', async () => {
    server = await listen(echo(), 0);
    const socket = await dial();
    socket.end(Buffer.concat([request(1), request(2), request(3)]));
    expect(repliedIds(await buffer(socket))).toEqual([1, 2, 3]);
  });

  it('sends a large reply completely', async () => {
    server = await listen(echo(), 0);
    const socket = await dial();
    const body = Buffer.alloc(20_000_000, 5);
    socket.end(request(1, body));
    const reply = await buffer(socket);
    expect(reply.length).toBe(21 + body.length);
    expect(reply.subarray(21).equals(body)).toBe(true);
  });

  it('sends nothing if the client wants no reply', async () => {
    server = await listen(echo({ moreToCome: true }), 0);
    const socket = await dial();
    socket.end(Buffer.concat([request(1), request(2)]));
    expect((await buffer(socket)).length).toBe(0);
  });

  it.each([
    ['has an impossible length', Buffer.from([3, 0, 0, 0, 0, 0, 0, 0])],
    ['is larger than 48 MB', Buffer.from([0, 0, 0, 4])],
    ['cannot be read by the engine', request(666)],
  ])('closes only the connection whose message %s', async (_, bad) => {
    server = await listen(echo(), 0);
    const [good, broken] = [await dial(), await dial()];
    broken.on('error', () => {});
    broken.write(Buffer.concat([request(1), bad]));
    broken.resume();
    await once(broken, 'close');
    good.end(request(2));
    expect(repliedIds(await buffer(good))).toEqual([2]);
  });

  it('on close, replies to messages in flight, closes idle connections and accepts no more', async () => {
    const gate = Promise.withResolvers<void>();
    const received = Promise.withResolvers<void>();
    const run = echo({ gate: gate.promise });
    server = await listen((message) => {
      received.resolve();
      return run(message);
    }, 0);
    const [busy, idle] = [await dial(), await dial()];
    busy.write(request(7));
    await received.promise;
    const closed = server.close();
    expect((await buffer(idle)).length).toBe(0);
    await expect(dial()).rejects.toThrow('ECONNREFUSED');
    gate.resolve();
    expect(repliedIds(await buffer(busy))).toEqual([7]);
    await closed;
  });

  it('rejects with the reason when the port is taken', async () => {
    server = await listen(echo(), 0);
    await expect(listen(echo(), server.port)).rejects.toThrow('EADDRINUSE');
  });
});
