import { createServer } from 'node:net';
import { UsageError } from './run-script.ts';

/** Where everything listens, on 127.0.0.1. */
export interface SystemPorts {
  gateway: number;
  ticketsHttp: number;
  ticketsGrpc: number;
  gatewayInternal: number;
  ticketsInternal: number;
  reportingHttp: number;
  reportingGrpc: number;
  reportingInternal: number;
}

/** Chooses the ports: those that follow the gateway's, or free ones. Errors: UsageError if the gateway's is taken. */
export async function choosePorts(wanted: number): Promise<SystemPorts> {
  const gateway = await tryPort(wanted);
  if (gateway === undefined) throw new UsageError(`Port ${wanted} is taken; choose another with --port.`);
  const taken = new Set([gateway]);
  const choose = async (offset: number): Promise<number> => {
    const preferred = gateway + offset;
    const isPossible = preferred <= 65_535 && !taken.has(preferred);
    const port = (isPossible ? await tryPort(preferred) : undefined) ?? (await freePort());
    if (taken.has(port)) return choose(offset);
    taken.add(port);
    return port;
  };
  return {
    gateway,
    ticketsHttp: await choose(1),
    ticketsGrpc: await choose(2),
    gatewayInternal: await choose(3),
    ticketsInternal: await choose(4),
    reportingHttp: await choose(5),
    reportingGrpc: await choose(6),
    reportingInternal: await choose(7),
  };
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port === undefined) throw new UsageError('There is no free port.');
  return port;
}

/** The port if it can be listened on, a free one for 0, undefined if it is taken. */
function tryPort(port: number): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const server = createServer()
    .once('error', () => resolve(undefined))
    .listen({ host: '127.0.0.1', port }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
    });
  return promise;
}
