import type { DevelopmentKeys } from '@ticketing/testkit/development-keys.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import type { SystemPorts } from './ports.ts';

const tokenLifetimeSeconds = 12 * 3600;

/** Says where everything is, and how to make a first call. The last line begins with `ready`. */
export async function greeting(dataDir: string, ports: SystemPorts, keys: DevelopmentKeys): Promise<string> {
  const address = (port: number) => `http://127.0.0.1:${port}`;
  const admin = { sub: '1', kind: 'user', roleId: 1, name: 'Ada Admin', email: 'ada@example.com' };
  const token = await signToken(keys.issuerKeyFile, admin, tokenLifetimeSeconds);
  const ticket = JSON.stringify({
    channel: 'email',
    from: 'kim@example.com',
    subject: 'Hello',
    body: 'My first ticket',
  });
  const lines = [
    `REST       ${address(ports.gateway)}`,
    `reference  ${address(ports.gateway)}/docs`,
    `gRPC       127.0.0.1:${ports.ticketsGrpc} (tickets; Connect on ${address(ports.ticketsHttp)}), 127.0.0.1:${ports.reportingGrpc} (reporting)`,
    `metrics    ${address(ports.gatewayInternal)}/metrics, ${address(ports.ticketsInternal)}/metrics, ${address(ports.reportingInternal)}/metrics`,
    `data       ${dataDir}`,
    `token      ${token}`,
    '           an admin for 12 hours; npm run --silent token -- --help makes others',
    '',
    `curl -s ${address(ports.gateway)}/ticket -H 'authorization: Bearer ${token}' -H 'content-type: application/json' -d '${ticket}'`,
    '',
    `ready ${address(ports.gateway)}`,
  ];
  return `${lines.join('\n')}\n`;
}
