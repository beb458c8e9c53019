import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BusConfig } from '@ticketing/events/bus/bus-config.ts';
import { createAuthority } from '@ticketing/testkit/certificate-authority.ts';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { measureCertificates } from './certificate-metrics.ts';

const none = { cert: undefined, key: undefined, ca: undefined, clientCa: undefined };

async function measure(files: object, bus?: BusConfig): Promise<Record<string, number>> {
  const registry = new Registry();
  measureCertificates({ files: () => ({ ...none, ...files }) }, bus, registry);
  const samples = (await registry.metrics()).matchAll(/^tls_certificate_left_seconds\{file="(\w+)"\} (\S+)$/gm);
  return Object.fromEntries([...samples].map(([, file, value]) => [file, Number(value)]));
}

test('the certificates in use say how long they are valid; of authorities the last one counts', async () => {
  const authority = createAuthority('Test');
  const { cert } = authority.issue(['localhost']);
  const measured = await measure({ cert: Buffer.from(cert), ca: Buffer.from(`${cert}\n${authority.cert}`) });
  expect(Object.keys(measured)).toEqual(['TLS_CERT_FILE', 'TLS_CA_FILE']);
  for (const seconds of Object.values(measured)) expect(seconds).toBeGreaterThan(3_600);
});

test('without TLS nothing is measured', async () => {
  expect(await measure({})).toEqual({});
});

test('the files for Kafka are read at each measurement; one that is missing is left out', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-kafka-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const authority = createAuthority('Brokers');
  const [certFile, caFile] = [join(folder, 'cert.pem'), join(folder, 'ca.pem')];
  writeFileSync(certFile, authority.issue(['client']).cert);
  const kafka = { kind: 'kafka', brokers: [], replicas: 1, prefix: '', tls: true, credentials: undefined } as const;
  expect(Object.keys(await measure({}, { ...kafka, certFile, caFile }))).toEqual(['KAFKA_TLS_CERT_FILE']);
  writeFileSync(caFile, authority.cert);
  expect(Object.keys(await measure({}, { ...kafka, certFile, caFile }))).toHaveLength(2);
});
