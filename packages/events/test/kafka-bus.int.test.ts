import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { ConfigError, readConfig } from '@ticketing/runtime/config-reader.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import { createAuthority } from '@ticketing/testkit/certificate-authority.ts';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { readBusConfig } from '../src/bus/bus-config.ts';
import { kafkaBus } from '../src/bus/kafka-bus.ts';
import { testBus } from './bus-contract.ts';
import { startSaslBroker } from './sasl-broker.ts';

const brokers = inject('kafkaBrokers');
const log = createLogger('test', 'silent');

// These tests need brokers; `npm run accept -- containers` starts them.
describe.skipIf(brokers.length === 0)('with real brokers', () => {
  testBus('Kafka', async () => kafkaBus({ brokers, clientId: 'test', prefix: 'test.', log }));
});

test('reports that the bus is unavailable when no broker responds', async () => {
  const bus = kafkaBus({ brokers: ['127.0.0.1:1'], clientId: 'test', log });
  const unavailable = { code: 'unavailable', reason: 'bus_unavailable' };
  await expect(bus.publish('t', [{ key: 'a', value: new Uint8Array(), headers: {} }])).rejects.toMatchObject(
    unavailable,
  );
  await expect(bus.check()).rejects.toMatchObject(unavailable);
  await expect(bus.setUp([])).rejects.toMatchObject(unavailable);
  await bus.close();
});

// guarantee: C20
test('trusts the brokers whose certificates the configured authority has signed, and no others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-kafka-'));
  const authority = createAuthority('Brokers');
  const caFile = join(folder, 'ca.pem');
  const strangerFile = join(folder, 'stranger.pem');
  writeFileSync(caFile, authority.cert);
  writeFileSync(strangerFile, createAuthority('Stranger').cert);
  let handshakes = 0;
  // It ends every connection after the handshake; a real broker is not needed to see whom the client trusts.
  const broker = createServer(authority.issue(['localhost']), (socket) => {
    handshakes += 1;
    socket.on('error', () => undefined).end();
  }).listen(0, '127.0.0.1');
  await once(broker, 'listening');
  onTestFinished(() => {
    broker.close();
    rmSync(folder, { recursive: true });
  });
  const brokers = [`localhost:${(broker.address() as AddressInfo).port}`];
  const failures: string[] = [];
  for (const file of [strangerFile, caFile]) {
    const noting = createLogger('test', 'warn', { write: (line) => void failures.push(line) });
    const bus = kafkaBus({ brokers, clientId: 'test', tls: true, caFile: file, log: noting });
    await expect(bus.check()).rejects.toMatchObject({ reason: 'bus_unavailable' });
    await bus.close();
    if (file === strangerFile) expect(handshakes).toBe(0);
  }
  expect(handshakes).toBeGreaterThan(0);
  expect(failures.join()).toMatch(/unable to verify|self-signed/);
});

test('refuses a file of authorities that cannot be read', () => {
  expect(() => kafkaBus({ brokers: ['b:1'], clientId: 'test', tls: true, caFile: '/no/ca.pem', log })).toThrow(
    new ConfigError(['KAFKA_TLS_CA_FILE: /no/ca.pem cannot be read.']),
  );
});

test('shows the brokers its certificate, and a renewed one from the next connection on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-kafka-'));
  const authority = createAuthority('Brokers');
  const [caFile, certFile, keyFile] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const renew = (name: string) => {
    const { cert, key } = authority.issue([name]);
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
  };
  writeFileSync(caFile, authority.cert);
  const names: (string | undefined)[] = [];
  const options = {
    ...authority.issue(['localhost']),
    ca: authority.cert,
    requestCert: true,
    rejectUnauthorized: true,
  };
  const broker = createServer(options, (socket) => {
    names.push(socket.getPeerCertificate().subjectaltname);
    socket.on('error', () => undefined).end();
  }).listen(0, '127.0.0.1');
  await once(broker, 'listening');
  onTestFinished(() => {
    broker.close();
    rmSync(folder, { recursive: true });
  });
  renew('client-1');
  const brokers = [`localhost:${(broker.address() as AddressInfo).port}`];
  const bus = kafkaBus({ brokers, clientId: 'test', tls: true, caFile, certFile, keyFile, log });
  onTestFinished(() => bus.close());
  await expect(bus.check()).rejects.toMatchObject({ reason: 'bus_unavailable' });
  expect(new Set(names)).toEqual(new Set(['DNS:client-1']));
  renew('client-2');
  await expect(bus.check()).rejects.toMatchObject({ reason: 'bus_unavailable' });
  expect(names.at(-1)).toBe('DNS:client-2');
  writeFileSync(keyFile, authority.issue(['other']).key);
  expect(() => kafkaBus({ brokers, clientId: 'test', tls: true, certFile, keyFile, log })).toThrow(
    'KAFKA_TLS_CERT_FILE, KAFKA_TLS_KEY_FILE: not PEM files, or a certificate and a key that do not match.',
  );
});

test('shows the brokers the token that its file has at each connection', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-kafka-'));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'token-1\n');
  const broker = await startSaslBroker();
  onTestFinished(() => {
    broker.stop();
    rmSync(folder, { recursive: true });
  });
  const credentials = { mechanism: 'oauthbearer', tokenFile } as const;
  const bus = kafkaBus({ brokers: [broker.address], clientId: 'test', credentials, log });
  onTestFinished(() => bus.close());
  await expect(bus.check()).rejects.toMatchObject({ reason: 'bus_unavailable' });
  expect(new Set(broker.responses)).toEqual(new Set(['n,,\x01auth=Bearer token-1\x01\x01']));
  writeFileSync(tokenFile, 'token-2');
  await expect(bus.check()).rejects.toMatchObject({ reason: 'bus_unavailable' });
  expect(broker.responses.at(-1)).toBe('n,,\x01auth=Bearer token-2\x01\x01');
  rmSync(tokenFile);
  await expect(bus.check()).rejects.toMatchObject({ reason: 'bus_unavailable' });
  expect(() => kafkaBus({ brokers: ['b:1'], clientId: 'test', credentials, log })).toThrow(
    `KAFKA_OAUTH_TOKEN_FILE: ${tokenFile} cannot be read.`,
  );
});

test.each([
  [{ KAFKA_TLS_CERT_FILE: '/c' }, 'KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE must be set together.'],
  [{ KAFKA_TLS_CERT_FILE: '/c', KAFKA_TLS_KEY_FILE: '/k' }, 'KAFKA_TLS_CERT_FILE needs KAFKA_TLS=true.'],
  [{ KAFKA_OAUTH_TOKEN_FILE: '/t' }, 'KAFKA_OAUTH_TOKEN_FILE requires KAFKA_TLS=true'],
  [
    { KAFKA_TLS: 'true', KAFKA_OAUTH_TOKEN_FILE: '/t', KAFKA_USERNAME: 'u', KAFKA_PASSWORD: 'p' },
    'KAFKA_OAUTH_TOKEN_FILE and KAFKA_USERNAME exclude each other.',
  ],
])('refuses %j: %s', (variables, problem) => {
  const environment = Object.fromEntries(
    Object.entries({ KAFKA_BROKERS: 'b:1', ...variables }).map(([name, value]) => [`TICKETING_TICKETS_${name}`, value]),
  );
  expect(() => readConfig(environment, { service: 'tickets', services: ['tickets'] }, readBusConfig)).toThrow(problem);
});

test('refuses authorities of brokers without TLS', () => {
  const scope = { service: 'tickets', services: ['tickets'] };
  const environment = { TICKETING_TICKETS_KAFKA_BROKERS: 'b:1', TICKETING_TICKETS_KAFKA_TLS_CA_FILE: '/ca.pem' };
  expect(() => readConfig(environment, scope, readBusConfig)).toThrow('KAFKA_TLS_CA_FILE needs KAFKA_TLS=true.');
  const secured = { ...environment, TICKETING_TICKETS_KAFKA_TLS: 'true' };
  expect(readConfig(secured, scope, readBusConfig)).toMatchObject({ tls: true, caFile: '/ca.pem' });
});
