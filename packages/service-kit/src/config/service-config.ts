import { type BusConfig, readBusConfig } from '@ticketing/events/bus/bus-config.ts';
import { readAuditRule } from '@ticketing/rest/codec/options.ts';
import { type ConfigReader, type Environment, readConfig } from '@ticketing/runtime/config-reader.ts';
import { readStoreConfig, type StoreConfig } from '@ticketing/store/connection/store-config.ts';
import { consumedTopics, type Role, type ServiceEntry, serviceNamed, services } from '@ticketing/system/services.ts';
import { type RateLimits, readRateLimits } from '../admission/rate-limits.ts';
import type { IssuerConfig } from '../identity/issuer.ts';
import { type OutboundConfig, readOutboundConfig } from './outbound-config.ts';
import type { ConnectionLimits } from './server-limits.ts';
import { readTlsConfig, type TlsConfig } from './tls-config.ts';
import { readTracesConfig, type TracesConfig } from './traces-config.ts';

/** The configuration of a service process. The service's entry in packages/system decides which parts it needs. */
export interface ServiceConfig {
  host: string;
  /** The address of the internal port, with the metrics. */
  internalHost: string;
  httpPort: number;
  grpcPort: number;
  internalPort: number;
  logLevel: string;
  /**
   * How long responses carry `Connection: close` before the servers close, in ms; by default longer than the gateway keeps
   * connections that it does not use.
   */
  drainMs: number;
  tls: TlsConfig;
  issuer: IssuerConfig;
  /** The file of the private JWK with which the service signs internal tokens. */
  signingKeyFile: string;
  /** The file of the public JWKs of all services; undefined for a service that accepts no internal tokens. */
  internalJwksFile: string | undefined;
  /** For callers with access tokens of the issuer: of the gateway, or of the RPC API of another service. */
  rateLimits: RateLimits;
  /** Invalid tokens per address and minute; 0 for no limit. */
  failedTokensPerMinute: number;
  /** The most connections that each port has at once. */
  connections: ConnectionLimits;
  /** Bytes of the bodies of requests that the process may hold at once. */
  maxBodyBytesInFlight: number;
  roles: readonly Role[];
  /** The roles for each of which the service needs a process, in this installation. */
  expectedRoles: readonly Role[];
  /** The keys with which it encrypts secrets, the current one first; empty for a service that stores none. */
  encryptionKeys: readonly Buffer[];
  /** How long entries of the audit log are kept; 0 for ever. */
  auditDays: number;
  /** Undefined for a service without a database. */
  store: StoreConfig | undefined;
  /** Undefined for a service that neither publishes nor consumes. */
  bus: BusConfig | undefined;
  /** Undefined for a service that makes no requests to addresses that clients configure or send. */
  outbound: OutboundConfig | undefined;
  /** Where traces are sent; undefined if they are not recorded. */
  traces: TracesConfig | undefined;
  /** The gRPC addresses of the services that it calls by RPC, as grpc-js names them. */
  targets: ReadonlyMap<string, string>;
}

/** Whether a service has an audit log: it has a method whose contract says that its changes are recorded. */
export function isAudited({ contracts }: Pick<ServiceEntry, 'contracts'>): boolean {
  return contracts.some(({ methods }) => methods.some((method) => readAuditRule(method) !== undefined));
}

/**
 * Reads the configuration of a service from the variables `TICKETING_<NAME>_…`; `readOwn` reads the variables that only
 * this service has.
 *
 * Errors: a ConfigError that lists every problem.
 */
export function readServiceConfig<Own>(
  entry: ServiceEntry,
  environment: Environment,
  readOwn: (from: ConfigReader) => Own,
): ServiceConfig & Own {
  const names = services.map(({ name }) => name);
  return readConfig(environment, { service: entry.name, services: names }, (from) => ({
    ...readShared(from, entry),
    ...readOwn(from),
  }));
}

function readShared(from: ConfigReader, entry: ServiceEntry): ServiceConfig {
  const { ports, roles, hasStore, publishes } = entry;
  const target = { pattern: /^\S+:\d+$/, meaning: 'host:port, or dns:///host:port' };
  const host = from.text('HOST', { default: '0.0.0.0' });
  const called = ports.grpc === undefined ? [] : entry.calls.map(serviceNamed);
  return {
    host,
    internalHost: from.text('INTERNAL_HOST', { default: host }),
    httpPort: from.port('HTTP_PORT', ports.http),
    grpcPort: ports.grpc === undefined ? 0 : from.port('GRPC_PORT', ports.grpc),
    internalPort: from.port('INTERNAL_PORT', ports.http + 2000),
    logLevel: from.choice('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'info'),
    drainMs: from.integer('DRAIN_MS', { default: 5000, min: 0, max: 60_000 }),
    tls: readTlsConfig(from, called.length > 0),
    issuer: readIssuerConfig(from),
    signingKeyFile: from.text('SIGNING_KEY_FILE'),
    internalJwksFile: ports.grpc === undefined ? undefined : from.text('INTERNAL_JWKS_FILE'),
    rateLimits: readRateLimits(from),
    failedTokensPerMinute: from.integer('FAILED_TOKENS_PER_MINUTE', { default: 0, min: 0, max: 1_000_000 }),
    connections: {
      total: from.integer('MAX_CONNECTIONS', { default: 10_000, min: 10, max: 1_000_000 }),
      ofAddress: from.integer('MAX_CONNECTIONS_OF_ADDRESS', { default: 0, min: 0, max: 1_000_000 }),
    },
    maxBodyBytesInFlight: from.integer('MAX_BODY_MIB_IN_FLIGHT', { default: 160, min: 160, max: 65_536 }) * 1024 * 1024,
    roles: roles.length > 1 ? from.choices('ROLES', roles) : roles,
    expectedRoles: roles.length > 1 ? from.choices('EXPECTED_ROLES', roles) : roles,
    encryptionKeys: entry.keepsSecrets ? readEncryptionKeys(from) : [],
    auditDays: isAudited(entry) ? from.integer('AUDIT_DAYS', { default: 400, min: 0, max: 36_500 }) : 0,
    store: hasStore ? readStoreConfig(from, entry.name) : undefined,
    bus: publishes.length + consumedTopics(entry).length > 0 ? readBusConfig(from) : undefined,
    outbound: entry.makesOutboundRequests ? readOutboundConfig(from) : undefined,
    traces: readTracesConfig(from),
    targets: new Map(called.map(({ name }) => [name, from.text(`${name.toUpperCase()}_TARGET`, target)])),
  };
}

function readEncryptionKeys(from: ConfigReader): Buffer[] {
  const rule = { accepts: isEncryptionKey, meaning: '32 random bytes in base64' };
  const current = from.text('ENCRYPTION_KEY', rule);
  const previous = from.optionalText('PREVIOUS_ENCRYPTION_KEY', rule);
  if (previous === current) from.refuse('ENCRYPTION_KEY and PREVIOUS_ENCRYPTION_KEY must differ.');
  const keys = previous === undefined ? [current] : [current, previous];
  return keys.map((key) => Buffer.from(key, 'base64'));
}

function isEncryptionKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text);
}

function readIssuerConfig(from: ConfigReader): IssuerConfig {
  const config = {
    issuer: from.text('ISSUER'),
    audience: from.text('AUDIENCE', { default: 'ticketing' }),
    jwksUrl: from.optionalText('JWKS_URL', {
      accepts: isKeyUrl,
      meaning: 'an https URL without user info (http only on a loopback address)',
    }),
    jwksFile: from.optionalText('JWKS_FILE'),
    secret: from.optionalText('JWT_SECRET'),
    maxTokenLifetimeSeconds: from.integer('MAX_TOKEN_LIFETIME_S', { default: 0, min: 0, max: 31_536_000 }),
  };
  if (config.secret !== undefined && Buffer.byteLength(config.secret) < 32) {
    from.refuse('JWT_SECRET must be at least 32 bytes long.');
  }
  const sources = [config.jwksUrl, config.jwksFile, config.secret].filter((source) => source !== undefined);
  if (sources.length !== 1) from.refuse('Exactly one of JWKS_URL, JWKS_FILE and JWT_SECRET must be set.');
  return config;
}

/** Whether keys may be fetched from a URL: an attacker who could replace them on the way could sign any token. */
function isKeyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return (protocol === 'https:' || (protocol === 'http:' && isLoopback)) && username === '' && password === '';
}
