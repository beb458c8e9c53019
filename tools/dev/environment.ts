import type { Environment } from '@ticketing/runtime/config-reader.ts';
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
  const common = (service: string) =>
    variablesOf(service, {
      LOG_LEVEL: layout.logLevel,
      DRAIN_MS: '0',
      ISSUER: developmentIssuer.issuer,
      AUDIENCE: developmentIssuer.audience,
      JWKS_FILE: keys.issuerJwksFile,
      SIGNING_KEY_FILE: keys.signingKeyFile(service),
    });
  const bus = given.KAFKA_BROKERS
    ? { KAFKA_BROKERS: given.KAFKA_BROKERS, KAFKA_REPLICAS: '1' }
    : { EVENT_LOG_MONGODB_URI: layout.mongodbUri };
  const storing = (service: string) => {
    const namesBus = Object.keys(variablesOf(service, { KAFKA_BROKERS: '', EVENT_LOG_MONGODB_URI: '' }));
    const isGiven = namesBus.some((name) => given[name]);
    const common = { INTERNAL_JWKS_FILE: keys.internalJwksFile, MONGODB_URI: layout.mongodbUri };
    return variablesOf(service, { ...common, ...(isGiven ? {} : bus) });
  };
  const listening = (service: string, http: number, internal: number, grpc?: number) =>
    variablesOf(service, {
      HOST: host,
      HTTP_PORT: String(http),
      INTERNAL_PORT: String(internal),
      ...(grpc === undefined ? {} : { GRPC_PORT: String(grpc) }),
    });
  return {
    ...common('gateway'),
    ...common('tickets'),
    ...storing('tickets'),
    ...common('reporting'),
    ...storing('reporting'),
    ...given,
    ...listening('gateway', ports.gateway, ports.gatewayInternal),
    ...listening('tickets', ports.ticketsHttp, ports.ticketsInternal, ports.ticketsGrpc),
    ...listening('reporting', ports.reportingHttp, ports.reportingInternal, ports.reportingGrpc),
    TICKETING_GATEWAY_TICKETS_URL: `http://${host}:${ports.ticketsHttp}`,
    TICKETING_GATEWAY_REPORTING_URL: `http://${host}:${ports.reportingHttp}`,
    TICKETING_REPORTING_TICKETS_TARGET: `${host}:${ports.ticketsGrpc}`,
  };
}

function variablesOf(service: string, variables: Record<string, string>): Environment {
  const prefix = `TICKETING_${service.toUpperCase()}_`;
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [prefix + name, value]));
}
