import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A server at another address, where it can be made unavailable. */
export interface Forwarder {
  port: number;
  /** Makes the server unavailable: ends all connections, and accepts no more. */
  close(): Promise<void>;
  /** Makes it available again, at the same address. */
  open(): Promise<void>;
  /** Lets it hang: it accepts connections and requests, and responds to none of them. */
  freeze(): void;
  /** Lets it respond again, also to requests that were sent meanwhile. */
  thaw(): void;
}

/** Opens a forwarder to a server. The test must close it. */
export async function openForwarder(target: { host: string; port: number }): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  const pairs = new Set<readonly [from: Socket, to: Socket]>();
  let isFrozen = false;
  let server: Server;
  let port = 0;

  async function open(): Promise<void> {
    server = createServer((socket) => {
      const upstream = connect(target);
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
    port,
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
