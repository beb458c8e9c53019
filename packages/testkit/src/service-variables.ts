import type { ServiceEntry } from '@ticketing/system/services.ts';
import { serviceNamed, variableOf } from '@ticketing/system/services.ts';
import { type DevelopmentKeys, developmentIssuer } from './development-keys.ts';

/** What the variables of a service follow from, in development and in tests. */
export interface ServiceVariableInputs {
  keys: DevelopmentKeys;
  logLevel: string;
  ports: ServicePorts;
  /** Where the services that it calls listen. */
  calledPorts(name: string): ServicePorts;
  mongodbUri: string;
  /** The name of its database; that of its configuration's default if undefined. */
  database?: string | undefined;
  bus: BusAddress;
}

/** The ports of a service; 0 takes a free one. */
export interface ServicePorts {
  http: number;
  grpc: number;
  internal: number;
}

/** Which bus a system has. */
export type BusAddress =
  | { kind: 'kafka'; brokers: string; prefix?: string | undefined }
  | { kind: 'log'; mongodbUri: string; database?: string | undefined };

const host = '127.0.0.1';

/** The variables with which a service of a system on this machine is configured. */
export function serviceVariables(entry: ServiceEntry, place: ServiceVariableInputs): Record<string, string> {
  const { keys, ports } = place;
  const hasRpc = entry.ports.grpc !== undefined;
  const called = entry.calls.map(serviceNamed).map(({ name }) => addressOf(name, place.calledPorts(name), hasRpc));
  const variables = {
    HOST: host,
    HTTP_PORT: String(ports.http),
    INTERNAL_PORT: String(ports.internal),
    LOG_LEVEL: place.logLevel,
    DRAIN_MS: '0',
    ISSUER: developmentIssuer.issuer,
    AUDIENCE: developmentIssuer.audience,
    JWKS_FILE: keys.issuerJwksFile,
    SIGNING_KEY_FILE: keys.signingKeyFile(entry.name),
    ...(hasRpc ? { GRPC_PORT: String(ports.grpc), INTERNAL_JWKS_FILE: keys.internalJwksFile } : {}),
    ...(entry.hasStore ? storeVariables(place) : {}),
    ...(entry.publishes.length + entry.consumes.length > 0 ? busVariables(place.bus) : {}),
    ...Object.fromEntries(called),
  };
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [variableOf(entry.name, name), value]));
}

/** Services are called by RPC; the gateway forwards HTTP. */
function addressOf(name: string, ports: ServicePorts, byRpc: boolean): [string, string] {
  const prefix = name.toUpperCase();
  return byRpc ? [`${prefix}_TARGET`, `${host}:${ports.grpc}`] : [`${prefix}_URL`, `http://${host}:${ports.http}`];
}

function storeVariables({ mongodbUri, database }: ServiceVariableInputs): Record<string, string> {
  return { MONGODB_URI: mongodbUri, ...(database === undefined ? {} : { MONGODB_DATABASE: database }) };
}

function busVariables(bus: BusAddress): Record<string, string> {
  if (bus.kind === 'kafka') {
    const { brokers, prefix } = bus;
    return { KAFKA_BROKERS: brokers, KAFKA_REPLICAS: '1', ...(prefix === undefined ? {} : { KAFKA_PREFIX: prefix }) };
  }
  const { mongodbUri, database } = bus;
  return {
    EVENT_LOG_MONGODB_URI: mongodbUri,
    ...(database === undefined ? {} : { EVENT_LOG_MONGODB_DATABASE: database }),
  };
}
