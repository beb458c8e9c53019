import { createServer } from 'node:net';
import { services } from '@ticketing/system/services.ts';
import type { ServicePorts } from '@ticketing/testkit/service-variables.ts';
import { UsageError } from './run-script.ts';

/** The ports on 127.0.0.1 of each service, by its name. */
export type SystemPorts = ReadonlyMap<string, ServicePorts>;

/**
 * Chooses the ports of all services: the wanted one for HTTP of the gateway, and those that follow it for all others, in
 * the order of the description of the system. Where one of these is taken, any free port is chosen instead.
 *
 * Errors: UsageError if the wanted port of the gateway is taken.
 */
export async function choosePorts(wanted: number): Promise<SystemPorts> {
  const gateway = await tryPort(wanted);
  if (gateway === undefined) throw new UsageError(`Port ${wanted} is taken; choose another with --port.`);
  const taken = new Set([gateway]);
  let preferred = gateway;
  const choose = async (): Promise<number> => {
    preferred += 1;
    const port = (preferred <= 65_535 ? await tryPort(preferred) : undefined) ?? (await freePort());
    if (taken.has(port)) return choose();
    taken.add(port);
    return port;
  };
  const ports = new Map<string, ServicePorts>();
  for (const { name, ports: kinds } of services) {
    const http = name === 'gateway' ? gateway : await choose();
    ports.set(name, { http, grpc: kinds.grpc === undefined ? 0 : await choose(), internal: await choose() });
  }
  return ports;
}

/** The ports of a service. Errors: throws if there is no such service. */
export function portsOf(ports: SystemPorts, name: string): ServicePorts {
  const found = ports.get(name);
  if (!found) throw new Error(`No ports were chosen for ${name}.`);
  return found;
}

/** Finds a port that nothing listens on. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port === undefined) throw new UsageError('There is no free port.');
  return port;
}

/** Listens on a port for a moment. Returns the port, a free one for 0, or undefined if it is taken. */
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
