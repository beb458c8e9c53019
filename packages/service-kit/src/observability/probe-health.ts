import { get } from 'node:http';
import type { Environment } from '@ticketing/runtime/config-reader.ts';

/** Names for all addresses of a machine, which are no address to connect to. */
const anyAddresses = new Set(['', '0.0.0.0', '::']);

/**
 * Whether the process of a service with these variables is ready, according to its internal port. The build makes a
 * small program of it for each service, `health.mjs`, which a container engine runs often: it must not load the
 * service.
 *
 * Units: `timeoutMs` for the whole response.
 */
export function probeHealth(
  prefix: string,
  defaultPort: number,
  environment: Environment,
  timeoutMs = 2500,
): Promise<boolean> {
  const host = environment[`${prefix}INTERNAL_HOST`] ?? environment[`${prefix}HOST`] ?? '';
  const options = {
    host: anyAddresses.has(host.trim()) ? '127.0.0.1' : host.trim(),
    port: Number(environment[`${prefix}INTERNAL_PORT`]?.trim() || defaultPort),
    path: '/readyz',
    signal: AbortSignal.timeout(timeoutMs),
  };
  return new Promise((resolve) => {
    get(options, ({ statusCode }) => resolve(statusCode === 200)).once('error', () => resolve(false));
  });
}
