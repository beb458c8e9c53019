import { readFileSync } from 'node:fs';
import { type ConnectionOptions, createSecureContext } from 'node:tls';
import { ConfigError } from '@ticketing/runtime/config-reader.ts';

/** The PEM files with which a client connects to brokers by TLS. */
export interface KafkaTlsFiles {
  /** The authorities that sign the certificates of the brokers; those of Node if undefined. */
  caFile?: string | undefined;
  /** The certificate by which the brokers know the client (mTLS), and its key; undefined if it has none. */
  certFile?: string | undefined;
  keyFile?: string | undefined;
}

/**
 * Returns the TLS options of a client of Kafka. The client copies them for each connection, so that renewed files are
 * read without a restart; a file that cannot be read then keeps its last content.
 *
 * Errors: a ConfigError if a file cannot be read, or if certificate and key cannot be used together.
 */
export function kafkaTls({ caFile, certFile, keyFile }: KafkaTlsFiles): ConnectionOptions {
  const ca = followFile('KAFKA_TLS_CA_FILE', caFile);
  const cert = followFile('KAFKA_TLS_CERT_FILE', certFile);
  const key = followFile('KAFKA_TLS_KEY_FILE', keyFile);
  try {
    createSecureContext({ ca: ca?.(), cert: cert?.(), key: key?.() });
  } catch {
    const files = Object.entries({ KAFKA_TLS_CA_FILE: ca, KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key });
    const given = files.filter(([, file]) => file).map(([variable]) => variable);
    throw new ConfigError([`${given.join(', ')}: not PEM files, or a certificate and a key that do not match.`]);
  }
  return {
    get ca() {
      return ca?.();
    },
    get cert() {
      return cert?.();
    },
    get key() {
      return key?.();
    },
  };
}

/** Returns a function that reads a file, or returns its last content. Errors: a ConfigError if it cannot be read now. */
function followFile(variable: string, path: string | undefined): (() => string) | undefined {
  if (path === undefined) return undefined;
  let content = readOnce(variable, path);
  return () => {
    try {
      content = readFileSync(path, 'utf8');
    } catch {
      // Kubernetes replaces mounted files while they may be read.
    }
    return content;
  };
}

/** Reads a file of the configuration. Errors: a ConfigError that names the variable. */
export function readOnce(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError([`${variable}: ${path} cannot be read.`]);
  }
}
