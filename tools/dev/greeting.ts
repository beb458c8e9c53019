import type { Environment } from '@ticketing/runtime/config-reader.ts';
import { type ServiceEntry, services, variableName } from '@ticketing/system/services.ts';
import type { DevelopmentCertificates } from '@ticketing/testkit/development-certificates.ts';
import type { DevelopmentKeys } from '@ticketing/testkit/development-keys.ts';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { findPorts, type SystemPorts } from './ports.ts';

const tokenLifetimeSeconds = 12 * 3600;

/** A token of an admin of the development system. */
export function adminToken(keys: DevelopmentKeys): Promise<string> {
  const name = { name: 'Ada Admin', firstName: 'Ada', lastName: 'Admin' };
  const admin = { sub: '1', kind: 'user', roleId: 1, ...name, email: 'ada@example.com' };
  return signToken(keys.issuerKeyFile, admin, tokenLifetimeSeconds);
}

/** The text that `npm start` prints: all addresses, a token and a first request. The last line begins with `ready`. */
export function greeting(
  dataDir: string,
  ports: SystemPorts,
  token: string,
  certificates: DevelopmentCertificates | undefined,
  environment: Environment,
): string {
  const address = (port: number) => `${certificates ? 'https' : 'http'}://127.0.0.1:${port}`;
  const gateway = findPorts(ports, 'gateway');
  const ticket = JSON.stringify({
    channel: 'email',
    from: 'kim@example.com',
    subject: 'Hello',
    body: 'My first ticket',
  });
  const rpc = services
    .filter(({ ports: kinds }) => kinds.grpc !== undefined)
    .map(
      ({ name }) =>
        `${name} 127.0.0.1:${findPorts(ports, name).grpc} (Connect ${address(findPorts(ports, name).http)})`,
    );
  const lines = [
    `REST       ${address(gateway.http)}`,
    `reference  ${address(gateway.http)}/docs`,
    `gRPC       ${rpc.join(', ')}`,
    `metrics    ${services.map(({ name }) => `http://127.0.0.1:${findPorts(ports, name).internal}/metrics`).join(', ')}`,
    `data       ${dataDir}`,
    ...(certificates
      ? [`authority  ${certificates.caFile} (services demand a certificate of it, the gateway does not)`]
      : []),
    ...outboundLines(services, environment),
    ...mailLines(services, environment),
    `token      ${token}`,
    '           of an admin, for 12 hours; npm run --silent token -- --help shows how to make others',
    '',
    `curl -s${certificates ? ` --cacert ${certificates.caFile}` : ''} ${address(gateway.http)}/ticket -H 'authorization: Bearer ${token}' -H 'content-type: application/json' -d '${ticket}'`,
    '',
    `ready ${address(gateway.http)}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** One line for each service that sends mails, with their destination. */
export function mailLines(entries: readonly ServiceEntry[], environment: Environment): string[] {
  return entries.flatMap(({ name, roles }) => {
    const [server, folder] = ['SMTP_URL', 'MAIL_FOLDER'].map((one) => environment[variableName(name, one)]);
    if (!roles.includes('mailer') || (!server && !folder)) return [];
    return [`mail       ${name} ${server ? `sends mails to ${server}` : `puts mails into ${folder}`}`];
  });
}

/** One line for each service that may send requests to private addresses which clients choose. */
export function outboundLines(entries: readonly ServiceEntry[], environment: Environment): string[] {
  return entries
    .filter(({ makesOutboundRequests }) => makesOutboundRequests)
    .map(({ name }) => ({ name, allowed: environment[variableName(name, 'OUTBOUND_ALLOW')] }))
    .filter(({ allowed }) => allowed)
    .map(({ name, allowed }) => `outbound   ${name} may send requests to ${allowed}, also without TLS`);
}
