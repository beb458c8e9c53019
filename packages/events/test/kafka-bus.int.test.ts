import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { ConfigError, readConfig } from '@ticketing/runtime/config-reader.ts';
import { createAuthority } from '@ticketing/testkit/certificate-authority.ts';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { readBusConfig } from '../src/bus/bus-config.ts';
import { kafkaBus } from '../src/bus/kafka-bus.ts';
import { testBus } from './bus-contract.ts';

const brokers = inject('kafkaBrokers');
const log = () => undefined;

// These tests need brokers; `npm run test:containers` starts them.
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
    const note = (_: string, message: string) => void failures.push(message);
    const bus = kafkaBus({ brokers, clientId: 'test', tls: true, caFile: file, log: note });
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

test('refuses authorities of brokers without TLS', () => {
  const scope = { service: 'tickets', services: ['tickets'] };
  const environment = { TICKETING_TICKETS_KAFKA_BROKERS: 'b:1', TICKETING_TICKETS_KAFKA_TLS_CA_FILE: '/ca.pem' };
  expect(() => readConfig(environment, scope, readBusConfig)).toThrow('KAFKA_TLS_CA_FILE needs KAFKA_TLS=true.');
  const secured = { ...environment, TICKETING_TICKETS_KAFKA_TLS: 'true' };
  expect(readConfig(secured, scope, readBusConfig)).toMatchObject({ tls: true, caFile: '/ca.pem' });
});
