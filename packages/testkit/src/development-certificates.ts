import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { services } from '@ticketing/system/services.ts';
import {
  type CertificateAuthority,
  type CertifiedKey,
  createAuthority,
  openAuthority,
} from './certificate-authority.ts';

/** The files of a development system for TLS, in PEM. */
export interface DevelopmentCertificates {
  /** The certificate of the authority that has signed all others. */
  caFile: string;
  /** The certificate of a service, for its listeners and its calls. */
  certFile(service: string): string;
  keyFile(service: string): string;
}

/** The names of a service of a development system, besides its own: all services listen on this machine. */
const localNames = ['localhost', '127.0.0.1', '::1'];

/** Where the certificates of a development system are. */
export function certificatesIn(dataDir: string): DevelopmentCertificates {
  const folder = join(dataDir, 'tls');
  return {
    caFile: join(folder, 'ca.pem'),
    certFile: (service) => join(folder, `${service}.pem`),
    keyFile: (service) => join(folder, `${service}.key.pem`),
  };
}

/**
 * Creates the certificates of a development system in `<data>/tls`. The authority is created once, so that it stays trusted
 * where a developer has trusted it; the services get new certificates each time.
 */
export function developmentCertificates(dataDir: string): DevelopmentCertificates {
  const files = certificatesIn(dataDir);
  mkdirSync(join(dataDir, 'tls'), { recursive: true, mode: 0o700 });
  const authority = developmentAuthority(join(dataDir, 'tls', 'authority.json'));
  writeFileSync(files.caFile, authority.cert);
  for (const { name } of services) {
    const { cert, key } = authority.issue([name, ...localNames]);
    writeFileSync(files.certFile(name), cert);
    writeFileSync(files.keyFile(name), key, { mode: 0o600 });
  }
  return files;
}

function developmentAuthority(file: string): CertificateAuthority {
  if (existsSync(file)) return openAuthority(JSON.parse(readFileSync(file, 'utf8')) as CertifiedKey);
  const authority = createAuthority('Ticketing development');
  writeFileSync(file, JSON.stringify({ cert: authority.cert, key: authority.key }), { mode: 0o600 });
  return authority;
}
