import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@ticketing/runtime/config-reader.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { createAuthority } from '@ticketing/testkit/certificate-authority.ts';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { openServiceTls } from './service-tls.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));

const authority = createAuthority('Test');
const first = authority.issue(['first']);
const second = authority.issue(['second']);

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const files = {
  certFile: file('cert.pem', first.cert),
  keyFile: file('key.pem', first.key),
  caFile: file('ca.pem', authority.cert),
  clientCaFile: undefined,
  reloadMs: 10,
};

function open(changes: Partial<typeof files> = {}, log = createLogger('test', 'silent')) {
  const tls = openServiceTls({ ...files, ...changes }, log);
  onTestFinished(() => tls.close());
  return tls;
}

function findProblems(changes: Partial<typeof files>): readonly string[] {
  try {
    open(changes);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test('files that fit are used', () => {
  expect(open().files().cert?.toString()).toBe(first.cert);
  const chain = file('chain.pem', `${first.cert}${authority.cert}`);
  expect(findProblems({ certFile: chain })).toEqual([]);
});

test('each problem of the files is one sentence without their content', () => {
  const missing = join(folder, 'missing.pem');
  expect(findProblems({ certFile: missing, caFile: folder })).toEqual([
    `TLS_CERT_FILE: ${missing} cannot be read (ENOENT).`,
    `TLS_CA_FILE: ${folder} cannot be read (EISDIR).`,
  ]);
  expect(findProblems({ keyFile: file('other.pem', second.key) })).toEqual([
    'TLS_KEY_FILE is not the key of the certificate in TLS_CERT_FILE.',
  ]);
  expect(findProblems({ certFile: files.keyFile, keyFile: files.certFile, caFile: file('empty.pem', '') })).toEqual([
    'TLS_CERT_FILE contains no certificate in PEM format.',
    'TLS_KEY_FILE contains no usable private key in PEM format.',
    'TLS_CA_FILE contains no certificate in PEM format.',
  ]);
});

test('a broken certificate behind a good one is refused', () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  expect(findProblems({ caFile: file('broken.pem', authority.cert + broken) })).toEqual([
    'TLS_CA_FILE contains a certificate that cannot be parsed.',
  ]);
});

test('an encrypted key is refused', () => {
  const encrypted = createPrivateKey(first.key).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'x',
  });
  expect(findProblems({ keyFile: file('encrypted.pem', String(encrypted)) })).toEqual([
    'TLS_KEY_FILE is encrypted; only a private key without a passphrase can be used.',
  ]);
});

// guarantee: C21
test('changed files are used once they fit each other, and until then the last ones', async () => {
  const log = createLogger('test', 'silent');
  const logged = vi.spyOn(log, 'error');
  const certFile = file('renewed.pem', first.cert);
  const keyFile = file('renewed.key.pem', first.key);
  const tls = open({ certFile, keyFile }, log);
  const changes: (string | undefined)[] = [];
  tls.onChange(() => changes.push(tls.files().cert?.toString()));
  writeFileSync(certFile, second.cert);
  await expect.poll(() => logged.mock.calls).toHaveLength(1);
  expect(logged.mock.calls[0]?.[0]).toEqual({
    problems: ['TLS_KEY_FILE is not the key of the certificate in TLS_CERT_FILE.'],
  });
  expect(tls.files().cert?.toString()).toBe(first.cert);
  writeFileSync(keyFile, second.key);
  await expect.poll(() => changes).toEqual([second.cert]);
  expect(logged).toHaveBeenCalledOnce();
});

// guarantee: C21
test('a listener that fails is logged, and the others run', async () => {
  const log = createLogger('test', 'silent');
  const logged = vi.spyOn(log, 'error');
  const caFile = file('renewed.ca.pem', authority.cert);
  const tls = open({ caFile }, log);
  const error = new Error('refused');
  let calls = 0;
  tls.onChange(() => {
    throw error;
  });
  tls.onChange(() => {
    calls += 1;
  });
  writeFileSync(caFile, createAuthority('Other').cert);
  await expect.poll(() => calls).toBe(1);
  expect(logged.mock.calls.map(([fields]) => fields)).toEqual([{ err: error }]);
});
