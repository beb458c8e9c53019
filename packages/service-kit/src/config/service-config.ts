import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';

/** What every process of the system is told: where it listens, how it logs and stops, and whose tokens it believes. */
export interface ServiceConfig {
  host: string;
  httpPort: number;
  internalPort: number;
  logLevel: string;
  /** How long answers carry `Connection: close` before the servers close, in ms. */
  drainMs: number;
  issuer: IssuerConfig;
  /** The private JWK with which the service signs internal tokens. */
  signingKeyFile: string;
}

/** Whose tokens are believed. Exactly one of the three sources of keys is set. */
export interface IssuerConfig {
  issuer: string;
  audience: string;
  jwksUrl: string | undefined;
  jwksFile: string | undefined;
  secret: string | undefined;
}

/** Reads what every process of the system is told. */
export function readServiceConfig(from: ConfigReader, defaults: { httpPort: number }): ServiceConfig {
  return {
    host: from.text('HOST', { default: '0.0.0.0' }),
    httpPort: from.port('HTTP_PORT', defaults.httpPort),
    internalPort: from.port('INTERNAL_PORT', defaults.httpPort + 2000),
    logLevel: from.choice('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'info'),
    drainMs: from.integer('DRAIN_MS', { default: 1000, min: 0, max: 60_000 }),
    issuer: readIssuerConfig(from),
    signingKeyFile: from.text('SIGNING_KEY_FILE'),
  };
}

function readIssuerConfig(from: ConfigReader): IssuerConfig {
  const config = {
    issuer: from.text('ISSUER'),
    audience: from.text('AUDIENCE', { default: 'ticketing' }),
    jwksUrl: from.optionalText('JWKS_URL', { pattern: /^https?:\/\/\S+$/, meaning: 'a URL' }),
    jwksFile: from.optionalText('JWKS_FILE'),
    secret: from.optionalText('JWT_SECRET'),
  };
  if (config.secret !== undefined && Buffer.byteLength(config.secret) < 32) {
    from.refuse('JWT_SECRET must be at least 32 bytes long.');
  }
  const sources = [config.jwksUrl, config.jwksFile, config.secret].filter((source) => source !== undefined);
  if (sources.length !== 1) from.refuse('Exactly one of JWKS_URL, JWKS_FILE and JWT_SECRET must be set.');
  return config;
}
