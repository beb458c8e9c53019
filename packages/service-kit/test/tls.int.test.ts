import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import tls from 'node:tls';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { Health, HealthCheckResponse_ServingStatus } from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import { ExportService } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { implement } from '@ticketing/rest/routes/rest-api.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { serviceNamed } from '@ticketing/system/services.ts';
import { createAuthority } from '@ticketing/testkit/certificate-authority.ts';
import { developmentCertificates } from '@ticketing/testkit/development-certificates.ts';
import { withinTime } from '@ticketing/testkit/machine-limits.ts';
import { serviceVariables } from '@ticketing/testkit/service-variables.ts';
import { type StubServer, startStubServer } from '@ticketing/testkit/stub-server.ts';
import { testIdentity } from '@ticketing/testkit/test-identity.ts';
import { untilReady } from '@ticketing/testkit/until-ready.ts';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { createGrpcTransport } from '../src/client/grpc-transport.ts';
import { defaultServerLimits } from '../src/config/server-limits.ts';
import { composeService, type RunningService } from '../src/lifecycle/compose-service.ts';
import type { Kit } from '../src/lifecycle/kit.ts';
import { openServiceTls } from '../src/tls/service-tls.ts';

const folder = mkdtempSync(join(tmpdir(), 'ticketing-tls-'));
const identity = testIdentity();
const handshakeMs = 4_000;
const files = developmentCertificates(folder);
const read = (path: string) => readFileSync(path, 'utf8');
const ca = read(files.caFile);
/** The certificate of another service of the system, as its clients present it. */
const gateway = { cert: read(files.certFile('gateway')), key: read(files.keyFile('gateway')) };
/** An authority that the system does not trust. */
const stranger = createAuthority('Stranger');

let environment: Record<string, string>;
let running: RunningService;
let kit: Kit<object, unknown>;
let tickets: StubServer;

/** A service in the place of reporting, with mutual TLS. */
const service = composeService<object, unknown>({
  name: 'reporting',
  compose(opened) {
    kit = opened;
    return {
      implementations: [implement(ExportService, {}, {})],
      eraseTicket: async () => undefined,
      operations: { rebuild: async () => 0, reconcile: async () => 0 },
    };
  },
});

beforeAll(async () => {
  const own = { cert: read(files.certFile('tickets')), key: read(files.keyFile('tickets')) };
  const mutual = { ca, requestCert: true, rejectUnauthorized: true };
  tickets = await startStubServer((router) => router.service(TagService, { listTags: () => ({}) }), {
    ...own,
    ...mutual,
  });
  const mongodbUri = inject('mongodbUri');
  const database = `test_${randomUUID().slice(0, 8)}`;
  const variables = serviceVariables(serviceNamed('reporting'), {
    keys: identity.keys,
    certificates: files,
    logLevel: 'silent',
    ports: { http: 0, grpc: 0, internal: 0 },
    calledPorts: (name) => ({ http: 1, grpc: name === 'tickets' ? tickets.port : 1, internal: 1 }),
    mongodbUri,
    database,
    bus: { kind: 'log', mongodbUri, database: `${database}_events` },
  });
  environment = { ...variables, TICKETING_REPORTING_TLS_RELOAD_MS: '100' };
  await service.setUp(environment);
  running = await service.start(environment, { limits: { handshakeMs } });
  await untilReady(`http://127.0.0.1:${running.ports.internal}`);
});

afterAll(async () => {
  await running.stop();
  await tickets.stop();
  identity.remove();
  rmSync(folder, { recursive: true });
});

/** Reads `/healthz` of the REST port on a new connection. */
async function getHealth(options: https.RequestOptions): Promise<string> {
  const request = https.get({
    port: running.ports.http,
    host: 'localhost',
    path: '/healthz',
    agent: false,
    ...options,
  });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return text(response);
}

/** A client of the health service at the gRPC port, with these certificates. */
function healthClient(changes: { ca?: string; cert?: string; key?: string; port?: number }) {
  const { ca: authorities = ca, cert, key, port = running.ports.grpc } = changes;
  const write = (pem: string | undefined) => {
    if (pem === undefined) return undefined;
    const path = join(folder, `${randomUUID()}.pem`);
    writeFileSync(path, pem);
    return path;
  };
  const config = { caFile: write(authorities), certFile: write(cert), keyFile: write(key), clientCaFile: undefined };
  const clientTls = openServiceTls({ ...config, reloadMs: 60_000 }, createLogger('test', 'silent'));
  const target = `localhost:${port}`;
  const transport = createGrpcTransport({ target, tls: clientTls, services: [Health], defaultTimeoutMs: 5_000 });
  onTestFinished(() => {
    transport.close();
    clientTls.close();
  });
  return createClient(Health, transport);
}

const findFailure = (call: Promise<unknown>) =>
  call.then(
    () => Promise.reject(new Error('the call did not fail')),
    (error: unknown) => ConnectError.from(error),
  );

describe('the REST port', () => {
  it('serves a client with a certificate', async () => {
    expect(await getHealth({ ca, ...gateway })).toBe('{"status":"ok"}');
  });

  // guarantee: C19
  it('refuses a client without a certificate, and one with that of another authority', async () => {
    await expect(getHealth({ ca })).rejects.toThrow(/certificate required|ECONNRESET|socket hang up/);
    await expect(getHealth({ ca, ...stranger.issue(['gateway']) })).rejects.toThrow(/alert|ECONNRESET|socket hang up/);
  });

  // guarantee: C20
  it('is not trusted by a client of another authority, or under a name that its certificate does not have', async () => {
    await expect(getHealth({ ca: stranger.cert, ...gateway })).rejects.toThrow(/unable to verify|self-signed/);
    await expect(getHealth({ ca, ...gateway, servername: 'example.com' })).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });

  // asvs: 4.1.2, 12.2.1
  it('does not respond to plain HTTP', async () => {
    const request = http.get({ port: running.ports.http, path: '/healthz', agent: false });
    await expect(once(request, 'response')).rejects.toThrow('socket hang up');
  });

  it.each([
    ['ECDHE-RSA-AES128-GCM-SHA256', true],
    ['ECDHE-RSA-CHACHA20-POLY1305', true],
    ['AES128-GCM-SHA256', false],
    ['ECDHE-RSA-AES128-SHA256', false],
    ['ECDHE-RSA-AES256-SHA', false],
  ])(
    // asvs: 12.1.2
    'over TLS 1.2 accepts only ciphers with forward secrecy and authenticated encryption: %s, %s',
    async (ciphers, isAccepted) => {
      const health = getHealth({ ca, ...gateway, maxVersion: 'TLSv1.2', ciphers });
      if (isAccepted) expect(await health).toBe('{"status":"ok"}');
      else await expect(health).rejects.toThrow(/handshake failure/);
    },
  );

  // guarantee: C19
  // asvs: 12.1.1
  it('accepts TLS 1.2 and nothing older', async () => {
    expect(await getHealth({ ca, ...gateway, maxVersion: 'TLSv1.2' })).toBe('{"status":"ok"}');
    // With its default ciphers, the OpenSSL of the client would refuse TLS 1.1 itself.
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(getHealth({ ca, ...gateway, ...old })).rejects.toThrow(/alert protocol version/);
  });
});

describe('the gRPC port', () => {
  it('serves a client with a certificate, over HTTP/2', async () => {
    const { status } = await healthClient(gateway).check({});
    expect(status).toBe(HealthCheckResponse_ServingStatus.SERVING);
    const socket = tls.connect({ port: running.ports.grpc, host: 'localhost', ca, ...gateway, ALPNProtocols: ['h2'] });
    await once(socket, 'secureConnect');
    expect(socket.alpnProtocol).toBe('h2');
    socket.destroy();
  });

  // guarantee: C19
  it('refuses a client without a certificate, and one with that of another authority', async () => {
    expect((await findFailure(healthClient({}).check({}))).code).toBe(Code.Unavailable);
    const strange = healthClient(stranger.issue(['gateway']));
    expect((await findFailure(strange.check({}))).code).toBe(Code.Unavailable);
  });

  // guarantee: C20
  it('is not trusted by a client of another authority, or under a name that its certificate does not have', async () => {
    const untrusting = healthClient({ ...gateway, ca: stranger.cert });
    expect((await findFailure(untrusting.check({}))).message).toMatch(/unable to verify|self-signed/);
    const other = await startStubServer(
      (router) => router.service(Health, { check: () => ({}) }),
      stranger.issue(['example.com']),
    );
    onTestFinished(() => other.stop());
    const misled = healthClient({ ca: stranger.cert, port: other.port });
    expect((await findFailure(misled.check({}))).message).toMatch(/does not match certificate's altnames/);
  });

  it('does not respond to a client without TLS', async () => {
    const target = `localhost:${running.ports.grpc}`;
    const transport = createGrpcTransport({ target, services: [Health], defaultTimeoutMs: 5_000 });
    onTestFinished(() => transport.close());
    expect((await findFailure(createClient(Health, transport).check({}))).code).toBe(Code.Unavailable);
  });
});

describe('a connection', () => {
  /** Sends these bytes, and nothing else, until the server closes the connection. */
  async function untilClosed(port: number, bytes: string | Buffer): Promise<void> {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined).resume();
    socket.write(bytes);
    await once(socket, 'close');
  }

  /** The first message of a handshake, which the server responds to. */
  async function clientHello(): Promise<Buffer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = tls.connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    client.on('error', () => undefined);
    const [socket] = (await once(server, 'connection')) as [Socket];
    const [hello] = (await once(socket, 'data')) as [Buffer];
    client.destroy();
    server.close();
    return hello;
  }

  // guarantee: C19
  it('whose handshake is not completed within 10 seconds, here 4, is closed', async () => {
    expect(defaultServerLimits.handshakeMs).toBe(10_000);
    const ports = [running.ports.http, running.ports.grpc];
    const starts = ['', '\x16\x03\x01', await clientHello()];
    const closeAll = () => Promise.all(ports.flatMap((port) => starts.map((bytes) => untilClosed(port, bytes))));
    await withinTime(handshakeMs + 4_000, closeAll);
  });

  it('whose handshake is malformed is closed at once', async () => {
    for (const port of [running.ports.http, running.ports.grpc]) {
      await withinTime(2_000, () => untilClosed(port, '\x16\x03\x01\x00\x05hello'));
    }
  });
});

it('the internal port has no TLS, so that probes need no certificate', async () => {
  const response = await fetch(`http://127.0.0.1:${running.ports.internal}/metrics`);
  expect(response.status).toBe(200);
});

// guarantee: C21
it('a service whose certificate and key do not fit each other does not start', async () => {
  const wrong = { ...environment, TICKETING_REPORTING_TLS_KEY_FILE: files.keyFile('gateway') };
  await expect(service.start(wrong)).rejects.toThrow(
    'The configuration is not usable:\n  - TLS_KEY_FILE is not the key of the certificate in TLS_CERT_FILE.',
  );
});

it('a service presents its certificate to the services that it calls', async () => {
  const client = kit.openClient('tickets', TagService, { timeoutMs: 5_000 });
  expect((await client().listTags({})).tags).toEqual([]);
  expect(tickets.presented.map(({ subject }) => subject)).toEqual(['CN=reporting']);
});

// guarantee: C21
it('a renewed certificate is used without a restart, by new connections in both directions', async () => {
  const client = kit.openClient('tickets', TagService, { timeoutMs: 5_000 });
  await client().listTags({});
  const before = tickets.presented.at(-1)?.fingerprint256;
  const open = tls.connect({ port: running.ports.http, host: 'localhost', ca, ...gateway });
  await once(open, 'secureConnect');
  developmentCertificates(folder);
  const { fingerprint256 } = open.getPeerX509Certificate() ?? {};
  await vi.waitFor(
    async () => {
      for (const port of [running.ports.http, running.ports.grpc]) {
        const socket = tls.connect({ port, host: 'localhost', ca, ...gateway, ALPNProtocols: ['h2', 'http/1.1'] });
        await once(socket, 'secureConnect');
        socket.destroy();
        expect(socket.getPeerX509Certificate()?.fingerprint256).not.toBe(fingerprint256);
      }
    },
    { timeout: 30_000, interval: 50 },
  );
  open.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  expect(await text(open)).toContain('{"status":"ok"}');
  tickets.disconnect();
  await vi.waitFor(() => client().listTags({}), { timeout: 30_000 });
  expect(tickets.presented.at(-1)?.subject).toBe('CN=reporting');
  expect(tickets.presented.at(-1)?.fingerprint256).not.toBe(before);
});
