import type { Environment } from '@ticketing/service-kit/config-reader.ts';
import { type DevelopmentKeys, developmentIssuer } from '@ticketing/testkit/development-keys.ts';
import type { SystemPorts } from './ports.ts';

/** What the variables of a development system follow from. */
export interface SystemLayout {
  ports: SystemPorts;
  keys: DevelopmentKeys;
  mongodbUri: string;
  logLevel: string;
}

const host = '127.0.0.1';

/** The variables of all services; a variable that is set already wins, but for addresses. */
export function systemEnvironment(layout: SystemLayout, given: Environment): Environment {
  const { ports, keys } = layout;
  const common = (service: string) => ({
    [`TICKETING_${service.toUpperCase()}_LOG_LEVEL`]: layout.logLevel,
    [`TICKETING_${service.toUpperCase()}_DRAIN_MS`]: '0',
    [`TICKETING_${service.toUpperCase()}_ISSUER`]: developmentIssuer.issuer,
    [`TICKETING_${service.toUpperCase()}_AUDIENCE`]: developmentIssuer.audience,
    [`TICKETING_${service.toUpperCase()}_JWKS_FILE`]: keys.issuerJwksFile,
    [`TICKETING_${service.toUpperCase()}_SIGNING_KEY_FILE`]: keys.signingKeyFile(service),
  });
  return {
    ...common('gateway'),
    ...common('tickets'),
    TICKETING_TICKETS_INTERNAL_JWKS_FILE: keys.internalJwksFile,
    TICKETING_TICKETS_MONGODB_URI: layout.mongodbUri,
    ...given,
    TICKETING_GATEWAY_HOST: host,
    TICKETING_GATEWAY_HTTP_PORT: String(ports.gateway),
    TICKETING_GATEWAY_INTERNAL_PORT: String(ports.gatewayInternal),
    TICKETING_GATEWAY_TICKETS_URL: `http://${host}:${ports.ticketsHttp}`,
    TICKETING_TICKETS_HOST: host,
    TICKETING_TICKETS_HTTP_PORT: String(ports.ticketsHttp),
    TICKETING_TICKETS_GRPC_PORT: String(ports.ticketsGrpc),
    TICKETING_TICKETS_INTERNAL_PORT: String(ports.ticketsInternal),
  };
}
