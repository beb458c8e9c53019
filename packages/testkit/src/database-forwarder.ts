import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { inject } from 'vitest';

/** The database of the tests at another address, where it can be made unavailable. */
export interface DatabaseForwarder {
  uri: string;
  /** Makes the database unavailable: ends all connections, and accepts no more. */
  close(): Promise<void>;
  /** Makes it available again, at the same address. */
  open(): Promise<void>;
  /** Lets the database hang: it accepts connections and requests, and responds to none of them. */
  freeze(): void;
  /** Lets it respond again, also to requests that were sent meanwhile. */
  thaw(): void;
}

/** Opens a forwarder to the database of the tests. The test must close it. */
export async function openDatabaseForwarder(): Promise<DatabaseForwarder> {
  const target = new URL(inject('mongodbUri').replace('mongodb:', 'http:'));
  const sockets = new Set<Socket>();
  const pairs = new Set<readonly [from: Socket, to: Socket]>();
  let isFrozen = false;
  let server: Server;
  let port = 0;

  async function open(): Promise<void> {
    server = createServer((socket) => {
      const upstream = connect(Number(target.port), target.hostname);
      for (const end of [socket, upstream]) {
        sockets.add(end);
        end.on('error', () => undefined);
      }
      for (const pair of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        pairs.add(pair);
        pair[0].once('close', () => pairs.delete(pair));
        if (!isFrozen) pair[0].pipe(pair[1]);
      }
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  }

  await open();
  return {
    uri: `mongodb://127.0.0.1:${port}/?directConnection=true`,
    open,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      await closed;
    },
    freeze() {
      isFrozen = true;
      for (const [from, to] of pairs) from.unpipe(to);
    },
    thaw() {
      isFrozen = false;
      for (const [from, to] of pairs) from.pipe(to);
    },
  };
}
