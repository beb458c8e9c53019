import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { BusConfig } from '@ticketing/events/bus/bus-config.ts';
import { Gauge, type Registry } from 'prom-client';
import type { ServiceTls } from './service-tls.ts';
import { certificatePattern } from './tls-files.ts';

/** The certificates that a process uses, by the variables that name their files. */
type Certificates = Readonly<Record<string, Buffer | undefined>>;

/**
 * Registers when the certificates that a process uses end, also while their files are replaced. For a file of
 * authorities, the last end counts: some of a bundle may have ended.
 */
export function measureCertificates(
  tls: Pick<ServiceTls, 'files'>,
  bus: BusConfig | undefined,
  registry: Registry,
): void {
  new Gauge({
    name: 'tls_certificate_left_seconds',
    help: 'For how long a certificate that the process uses is still valid, by the variable that names its file.',
    labelNames: ['file'],
    registers: [registry],
    collect() {
      this.reset();
      const { cert, ca, clientCa } = tls.files();
      const own: Certificates = { TLS_CERT_FILE: cert, ...busCertificate(bus, 'cert') };
      const authorities: Certificates = { TLS_CA_FILE: ca, TLS_CLIENT_CA_FILE: clientCa, ...busCertificate(bus, 'ca') };
      for (const [file, pem] of Object.entries(own)) set(this, file, pem && readEnds(pem)[0]);
      for (const [file, pem] of Object.entries(authorities)) set(this, file, pem && Math.max(...readEnds(pem)));
    },
  });
}

function set(gauge: Gauge<'file'>, file: string, endsAt: number | undefined): void {
  if (endsAt !== undefined && Number.isFinite(endsAt)) gauge.set({ file }, (endsAt - Date.now()) / 1000);
}

function busCertificate(bus: BusConfig | undefined, kind: 'cert' | 'ca'): Certificates {
  const path = bus?.kind === 'kafka' ? bus[`${kind}File`] : undefined;
  if (path === undefined) return {};
  try {
    return { [`KAFKA_TLS_${kind.toUpperCase()}_FILE`]: readFileSync(path) };
  } catch {
    // While files are replaced, one may be missing.
    return {};
  }
}

/** Returns the ends of the certificates of a PEM file, in their order. Units: Unix ms. */
function readEnds(pem: Buffer): number[] {
  const texts = pem.toString('latin1').match(certificatePattern) ?? [];
  return texts.flatMap((text) => {
    try {
      return new X509Certificate(text).validToDate.getTime();
    } catch {
      return [];
    }
  });
}
