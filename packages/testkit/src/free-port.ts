import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Systems give ports above these to outgoing connections, which may take one before it is listened on. */
const chosenPorts = { min: 10_000, max: 32_000 };
/** The time in which the port of a caller is not given to other processes: it listens until then. */
const reservedMs = 60_000;

/** Finds a port of 127.0.0.1 that nothing listens on, and that no other call has just found, in any process. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(chosenPorts.min, chosenPorts.max);
    if ((await reserve(port)) && (await tryPort(port)) !== undefined) return port;
  }
  throw new Error('There is no free port.');
}

/** Reserves a port by its number of UDP, which no system of ours uses. Returns false if it is reserved already. */
function reserve(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createSocket('udp4')
    .once('error', () => resolve(false))
    .bind({ address: '127.0.0.1', port, exclusive: true }, () => {
      socket.unref();
      setTimeout(() => socket.close(), reservedMs).unref();
      resolve(true);
    });
  return promise;
}

/** Listens on a port of 127.0.0.1 for a moment. Returns the port, or undefined if it is taken. */
export function tryPort(port: number): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const server = createServer()
    .once('error', () => resolve(undefined))
    .listen({ host: '127.0.0.1', port }, () => server.close(() => resolve(port)));
  return promise;
}
