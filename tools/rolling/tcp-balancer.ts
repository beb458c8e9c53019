import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Distributes connections over the replicas of a service, as a Service of Kubernetes does: each new one to the next. */
export interface TcpBalancer {
  port: number;
  /** Sets to which ports connections are made from now on. Connections that are open stay as they are. */
  use(ports: readonly number[]): void;
  close(): Promise<void>;
}

/** Starts a balancer on a port of this machine, by default a free one. A connection that its replica refuses is closed. */
export async function startBalancer(port = 0): Promise<TcpBalancer> {
  let targets: readonly number[] = [];
  let next = 0;
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const target = targets[next++ % Math.max(1, targets.length)];
    if (target === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect({ host: '127.0.0.1', port: target, noDelay: true, allowHalfOpen: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.once('error', () => to.destroy());
      from.once('close', () => {
        open.delete(from);
        if (!from.readableEnded) to.destroy();
      });
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    use(ports) {
      targets = ports;
    },
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
