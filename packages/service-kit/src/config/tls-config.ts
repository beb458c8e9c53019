import type { ConfigReader } from '@ticketing/runtime/config-reader.ts';

/** The files with which a service secures its listeners and its calls, all in PEM. Without any, it uses no TLS. */
export interface TlsConfig {
  /** The certificate of the service, followed by those of intermediate authorities. */
  certFile: string | undefined;
  keyFile: string | undefined;
  /** The authorities that sign the certificates of the services that it calls. */
  caFile: string | undefined;
  /** The authorities that sign the certificates of its clients. If set, a client without such a certificate is refused. */
  clientCaFile: string | undefined;
  /** How often the files are read again, in ms. */
  reloadMs: number;
}

/**
 * Reads which files a service uses for TLS. A service that calls others by RPC (`callsByRpc`) must use TLS in both
 * directions or in none, because its calls carry tokens.
 *
 * Source: docs/reference/architecture.md, TLS.
 */
export function readTlsConfig(from: ConfigReader, callsByRpc: boolean): TlsConfig {
  const config = {
    certFile: from.optionalText('TLS_CERT_FILE'),
    keyFile: from.optionalText('TLS_KEY_FILE'),
    caFile: from.optionalText('TLS_CA_FILE'),
    clientCaFile: from.optionalText('TLS_CLIENT_CA_FILE'),
    reloadMs: from.integer('TLS_RELOAD_MS', { default: 10_000, min: 100, max: 3_600_000 }),
  };
  if ((config.certFile === undefined) !== (config.keyFile === undefined)) {
    from.refuse('TLS_CERT_FILE and TLS_KEY_FILE must be set together.');
  }
  if (config.clientCaFile !== undefined && config.certFile === undefined) {
    from.refuse('TLS_CLIENT_CA_FILE needs TLS_CERT_FILE: only a listener with TLS can demand certificates.');
  }
  if (callsByRpc && config.certFile !== undefined && config.caFile === undefined) {
    from.refuse('TLS_CA_FILE must be set with TLS_CERT_FILE: the calls of this service carry tokens.');
  }
  if (config.certFile !== undefined && from.optionalText('HOST') === 'localhost') {
    // Fastify listens on every address of this name with a separate server, and exposes only the first.
    from.refuse('HOST must be an address, not localhost, where TLS_CERT_FILE is set.');
  }
  return config;
}
