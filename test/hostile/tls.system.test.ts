import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { services } from '@ticketing/system/services.ts';
import { type CertifiedKey, createAuthority } from '@ticketing/testkit/certificate-authority.ts';
import { developmentCertificates } from '@ticketing/testkit/development-certificates.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-hostile-tls-'));
const files = developmentCertificates(folder);
const ca = readFileSync(files.caFile, 'utf8');

let system: System;
beforeAll(async () => {
  // The gateway demands certificates only if it is configured to.
  system = await startSystem({ certificates: files, variables: { TLS_CLIENT_CA_FILE: files.caFile } });
});
afterAll(async () => {
  await system.stop();
  rmSync(folder, { recursive: true });
});

/** Each listener of each service. */
const listeners = services.flatMap(({ name, ports }) =>
  (ports.grpc === undefined ? (['http'] as const) : (['http', 'grpc'] as const)).map((port) => ({ name, port })),
);

/** How a client connects: without TLS, or with TLS and this certificate. */
type Client = 'plain' | Partial<CertifiedKey>;

/** The first bytes of a client, and those by which a server shows that it accepts it. */
const greetings = {
  http: {
    sent: 'GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    isAccepted: (bytes: Buffer) => bytes.toString('latin1').startsWith('HTTP/1.1 200 '),
  },
  // The preface of HTTP/2 and empty settings. A server responds with its own settings.
  grpc: { sent: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', isAccepted: (bytes: Buffer) => bytes[3] === 4 },
};

/** Whether a listener serves a client. */
async function isServed({ name, port }: (typeof listeners)[number], client: Client): Promise<boolean> {
  const address = { port: system.findPorts(name)[port], host: 'localhost' };
  const alpn = port === 'grpc' ? { ALPNProtocols: ['h2'] } : {};
  const socket = client === 'plain' ? connectTcp(address) : connectTls({ ...address, ...alpn, ca, ...client });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => resolve(greetings[port].isAccepted(bytes)));
  socket.on('close', () => resolve(false));
  socket.write(greetings[port].sent, 'latin1');
  return promise.finally(() => socket.destroy());
}

describe.each(listeners.map((listener) => [listener.port, listener.name, listener] as const))(
  'the %s port of %s, with an authority for clients',
  (_port, _name, listener) => {
    test('serves a client with a certificate of the authority', async () => {
      const of = (service: string): CertifiedKey => ({
        cert: readFileSync(files.certFile(service), 'utf8'),
        key: readFileSync(files.keyFile(service), 'utf8'),
      });
      expect(await isServed(listener, of('gateway'))).toBe(true);
    });

    // guarantee: C19
    // asvs: 12.1.3
    test('refuses a client without a certificate, with one of another authority, or without TLS', async () => {
      const stranger = createAuthority('Stranger').issue(['gateway', 'localhost']);
      expect(await isServed(listener, {})).toBe(false);
      expect(await isServed(listener, stranger)).toBe(false);
      expect(await isServed(listener, 'plain')).toBe(false);
    });
  },
);
