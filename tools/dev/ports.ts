import { services } from '@ticketing/system/services.ts';
import { freePort, tryPort } from '@ticketing/testkit/free-port.ts';
import type { ServicePorts } from '@ticketing/testkit/service-variables.ts';
import { UsageError } from '../cli/command.ts';

/** The ports on 127.0.0.1 of each service, by its name. */
export type SystemPorts = ReadonlyMap<string, ServicePorts>;

/**
 * Chooses the ports of all services: the wanted one for HTTP of the gateway, a free one for 0, and those that follow it for
 * all others, in the order of the description of the system. Where one of these is taken, any free port is chosen instead.
 *
 * Errors: UsageError if the wanted port of the gateway is taken.
 */
export async function choosePorts(wanted: number): Promise<SystemPorts> {
  const gateway = wanted === 0 ? await freePort() : await tryPort(wanted);
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
export function findPorts(ports: SystemPorts, name: string): ServicePorts {
  const found = ports.get(name);
  if (!found) throw new Error(`No ports were chosen for ${name}.`);
  return found;
}
