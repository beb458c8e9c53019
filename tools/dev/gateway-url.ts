import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { variableName } from '@ticketing/system/services.ts';
import { certificatesIn } from '@ticketing/testkit/development-certificates.ts';
import { environmentFile } from './environment-file.ts';

/**
 * The URL of the gateway on this port of this machine. If the system that runs on the data folder uses TLS, it is an https
 * one, and this process trusts the authority of that system from now on.
 */
export function gatewayUrl(dataDir: string, port: string): string {
  if (!hasTls(dataDir)) return `http://127.0.0.1:${port}`;
  const authority = readFileSync(certificatesIn(dataDir).caFile, 'utf8');
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority]);
  return `https://127.0.0.1:${port}`;
}

function hasTls(dataDir: string): boolean {
  try {
    const environment = JSON.parse(readFileSync(environmentFile(dataDir), 'utf8')) as Record<string, string>;
    return variableName('gateway', 'TLS_CERT_FILE') in environment;
  } catch {
    // No system is running on this folder.
    return false;
  }
}
