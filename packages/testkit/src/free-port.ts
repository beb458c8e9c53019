import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Systems give ports above these to outgoing connections, which may take one before it is listened on. */
const chosenPorts = { min: 10_000, max: 32_000 };

/** Finds a port of 127.0.0.1 that nothing listens on. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = await tryPort(randomInt(chosenPorts.min, chosenPorts.max));
    if (port !== undefined) return port;
  }
  throw new Error('There is no free port.');
}

/** Listens on a port of 127.0.0.1 for a moment. Returns the port, or undefined if it is taken. */
export function tryPort(port: number): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const server = createServer()
    .once('error', () => resolve(undefined))
    .listen({ host: '127.0.0.1', port }, () => server.close(() => resolve(port)));
  return promise;
}
