import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import net from 'node:net';
import { onTestFinished } from 'vitest';
import { parseAddressRange } from '../src/address-range.ts';
import { type OutboundGuardOptions, outboundGuard } from '../src/outbound-guard.ts';

/** A server of a test, which stands for that of a customer. */
export interface Receiver {
  port: number;
  /** The connections that it has accepted. */
  sockets: readonly Socket[];
  /** The connections that are open. */
  open(): number;
}

/** Starts an HTTP server; with a certificate, an https one. */
export function startReceiver(respond: http.RequestListener, tls?: https.ServerOptions): Promise<Receiver> {
  return listen(tls ? https.createServer(tls, respond) : http.createServer(respond));
}

/** Starts a server that leaves each connection to `onConnection`. */
export function startRawReceiver(onConnection: (socket: Socket) => void): Promise<Receiver> {
  return listen(
    net.createServer((socket) => {
      onConnection(socket);
      // Without `resume` a socket that nobody reads never learns that the other side has closed it.
      socket.resume();
    }),
  );
}

async function listen(server: Server): Promise<Receiver> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return { port, sockets, open: () => sockets.filter(({ destroyed }) => !destroyed).length };
}

/** Opens a guard that allows a range, by default the loopback addresses. */
export function openGuard({
  allowed = '127.0.0.0/8',
  ...options
}: { allowed?: string } & Partial<OutboundGuardOptions>) {
  const range = parseAddressRange(allowed);
  const guard = outboundGuard({ allow: range ? [range] : [], requireHttps: true, ...options });
  onTestFinished(() => guard.close());
  return guard;
}
