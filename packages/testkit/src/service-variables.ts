import { join } from 'node:path';
import { consumedTopics, type ServiceEntry, variableName } from '@ticketing/system/services.ts';
import type { DevelopmentCertificates } from './development-certificates.ts';
import { type DevelopmentKeys, developmentIssuer } from './development-keys.ts';

/** The inputs from which the variables of a service are derived, in development and in tests. */
export interface ServiceVariableInputs {
  keys: DevelopmentKeys;
  logLevel: string;
  ports: ServicePorts;
  /** Where the services that it calls listen. */
  calledPorts(name: string): ServicePorts;
  mongodbUri: string;
  /** The name of its database; undefined for the default of its configuration. */
  database?: string | undefined;
  bus: BusAddress;
  /** For TLS between all services; undefined for none. */
  certificates?: DevelopmentCertificates | undefined;
}

/** The ports of a service; 0 takes a free one. */
export interface ServicePorts {
  http: number;
  grpc: number;
  internal: number;
}

/** The kind of a system's bus, and where it is. */
export type BusAddress =
  | { kind: 'kafka'; brokers: string; prefix?: string | undefined }
  | { kind: 'log'; mongodbUri: string; database?: string | undefined };

const host = '127.0.0.1';
/** The addresses of this machine, on which receivers of webhooks are tried out. */
const loopbackRanges = '127.0.0.0/8,::1';

/** The environment variables that configure a service of a system on this machine. */
export function serviceVariables(entry: ServiceEntry, inputs: ServiceVariableInputs): Record<string, string> {
  const { keys, ports } = inputs;
  const hasRpc = entry.ports.grpc !== undefined;
  const address = hasRpc ? rpcAddress : restAddress;
  const called = entry.calls.map((name) => address(name, inputs.calledPorts(name), inputs.certificates !== undefined));
  const variables = {
    HOST: host,
    INTERNAL_HOST: host,
    HTTP_PORT: String(ports.http),
    INTERNAL_PORT: String(ports.internal),
    LOG_LEVEL: inputs.logLevel,
    DRAIN_MS: '0',
    ISSUER: developmentIssuer.issuer,
    AUDIENCE: developmentIssuer.audience,
    JWKS_FILE: keys.issuerJwksFile,
    SIGNING_KEY_FILE: keys.signingKeyFile(entry.name),
    ...(hasRpc ? { GRPC_PORT: String(ports.grpc), INTERNAL_JWKS_FILE: keys.internalJwksFile } : {}),
    ...(entry.hasStore ? storeVariables(inputs) : {}),
    ...(entry.keepsSecrets ? { ENCRYPTION_KEY: keys.encryptionKey } : {}),
    ...(entry.publishes.length + consumedTopics(entry).length > 0 ? busVariables(inputs.bus) : {}),
    ...(entry.roles.includes('mailer') ? { MAIL_FOLDER: join(keys.dataDir, 'mail') } : {}),
    ...(entry.makesOutboundRequests ? { OUTBOUND_ALLOW: loopbackRanges } : {}),
    ...(inputs.certificates ? tlsVariables(entry, inputs.certificates) : {}),
    ...Object.fromEntries(called),
  };
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [variableName(entry.name, name), value]));
}

/** The variable with the address of a called service. Services call each other by RPC. */
function rpcAddress(name: string, { grpc }: ServicePorts, hasTls: boolean): [string, string] {
  // A name, because grpc-js sends the host of the target as the server name, which may not be an IP address.
  return [`${name.toUpperCase()}_TARGET`, `${hasTls ? 'localhost' : host}:${grpc}`];
}

/** The variable with the address of a service to which the gateway forwards HTTP. */
function restAddress(name: string, { http }: ServicePorts, hasTls: boolean): [string, string] {
  return [`${name.toUpperCase()}_URL`, `${hasTls ? 'https' : 'http'}://${host}:${http}`];
}

/** Mutual TLS between the services. The gateway demands no certificates, because its clients are those of the API. */
function tlsVariables({ name, calls, ports }: ServiceEntry, files: DevelopmentCertificates): Record<string, string> {
  return {
    TLS_CERT_FILE: files.certFile(name),
    TLS_KEY_FILE: files.keyFile(name),
    ...(calls.length > 0 ? { TLS_CA_FILE: files.caFile } : {}),
    ...(ports.grpc === undefined ? {} : { TLS_CLIENT_CA_FILE: files.caFile }),
  };
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
