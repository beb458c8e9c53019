import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { TlsConfig } from '../config/tls-config.ts';

/** The contents of the files of a TLS configuration; undefined for a file that is not configured. */
export interface TlsFiles {
  cert: Buffer | undefined;
  key: Buffer | undefined;
  ca: Buffer | undefined;
  clientCa: Buffer | undefined;
}

/**
 * The ciphers of TLS 1.2 with forward secrecy and authenticated encryption, and all of TLS 1.3. The default of Node has
 * others too.
 */
const ciphers = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
].join(':');

/** Returns the TLS options of a listener, made from the files. */
export function listenerContext({ cert, key, clientCa }: Omit<TlsFiles, 'ca'>): SecureContextOptions {
  return { cert, key, ca: clientCa, minVersion: 'TLSv1.2', ciphers };
}

/**
 * Reads the files of a TLS configuration and checks that they can be used together.
 *
 * Shape: `problems` has a sentence for each problem, without any content of a file; the files can be used if it is empty.
 */
export function readTlsFiles(config: TlsConfig): { files: TlsFiles; problems: readonly string[] } {
  const problems: string[] = [];
  const read = (variable: string, path: string | undefined) => {
    if (path === undefined) return undefined;
    try {
      return readFileSync(path);
    } catch (error) {
      problems.push(`${variable}: ${path} cannot be read (${readCode(error)}).`);
      return undefined;
    }
  };
  const files = {
    cert: read('TLS_CERT_FILE', config.certFile),
    key: read('TLS_KEY_FILE', config.keyFile),
    ca: read('TLS_CA_FILE', config.caFile),
    clientCa: read('TLS_CLIENT_CA_FILE', config.clientCaFile),
  };
  checkFiles(files, problems);
  return { files, problems };
}

function checkFiles({ cert, key, ca, clientCa }: TlsFiles, problems: string[]): void {
  const certificate = cert && firstCertificate('TLS_CERT_FILE', cert, problems);
  const privateKey = key && readPrivateKey(key, problems);
  if (ca) firstCertificate('TLS_CA_FILE', ca, problems);
  if (clientCa) firstCertificate('TLS_CLIENT_CA_FILE', clientCa, problems);
  if (!certificate || !privateKey) return;
  if (!certificate.checkPrivateKey(privateKey)) {
    problems.push('TLS_KEY_FILE is not the key of the certificate in TLS_CERT_FILE.');
    return;
  }
  const files = [...(clientCa ? ['TLS_CLIENT_CA_FILE'] : []), 'TLS_CERT_FILE', 'TLS_KEY_FILE'];
  checkContext(listenerContext({ cert, key, clientCa }), files, problems);
}

/** OpenSSL refuses, for example, keys that are too short. */
function checkContext(context: SecureContextOptions, files: readonly string[], problems: string[]): void {
  try {
    createSecureContext(context);
  } catch (error) {
    problems.push(`${files.join(' and ')} are refused by OpenSSL (${readCode(error)}).`);
  }
}

/** Matches each certificate of a PEM file. */
export const certificatePattern = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Returns the first certificate of a PEM file; all must be readable. */
function firstCertificate(variable: string, pem: Buffer, problems: string[]): X509Certificate | undefined {
  const texts = pem.toString('latin1').match(certificatePattern) ?? [];
  if (texts.length === 0) problems.push(`${variable} contains no certificate in PEM format.`);
  try {
    return texts.map((text) => new X509Certificate(text))[0];
  } catch {
    problems.push(`${variable} contains a certificate that cannot be parsed.`);
    return undefined;
  }
}

function readPrivateKey(pem: Buffer, problems: string[]): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    problems.push(
      pem.includes('ENCRYPTED')
        ? 'TLS_KEY_FILE is encrypted; only a private key without a passphrase can be used.'
        : 'TLS_KEY_FILE contains no usable private key in PEM format.',
    );
    return undefined;
  }
}

function readCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
