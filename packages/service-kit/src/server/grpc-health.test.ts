import { EventEmitter } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { fastifyConnectPlugin } from '@connectrpc/connect-fastify';
import { Client, type ClientReadableStream, credentials, status } from '@grpc/grpc-js';
import {
  HealthCheckRequestSchema,
  type HealthCheckResponse,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '@ticketing/contracts/grpc/health/v1/health_pb.ts';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { healthRoutes } from './grpc-health.ts';

const pollOptions = { interval: 2, timeout: 30_000 };

function readinessSwitch() {
  const changes = new EventEmitter();
  let isReady = true;
  let reads = 0;
  return {
    isReady() {
      reads += 1;
      return isReady;
    },
    reads: () => reads,
    onChange(listener: () => void) {
      changes.on('change', listener);
      return () => changes.off('change', listener);
    },
    listenerCount: () => changes.listenerCount('change'),
    set(next: boolean) {
      isReady = next;
      changes.emit('change');
    },
  };
}

/** Starts a server, and the client of grpc-js, so that the protocol is tested without Connect's client. */
async function start() {
  const readiness = readinessSwitch();
  const server = fastify({ http2: true });
  const routes = healthRoutes(readiness, [TagService]);
  await server.register(fastifyConnectPlugin, { routes, connect: false, grpcWeb: false, shutdownTimeoutMs: 20 });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  onTestFinished(async () => {
    client.close();
    await server.close();
  });

  const write = (service: string) =>
    Buffer.from(toBinary(HealthCheckRequestSchema, { $typeName: 'grpc.health.v1.HealthCheckRequest', service }));
  const read = (bytes: Buffer) => fromBinary(HealthCheckResponseSchema, bytes);
  return {
    readiness,
    server,
    check: (service: string) =>
      new Promise<ServingStatus | undefined>((resolve, reject) => {
        client.makeUnaryRequest('/grpc.health.v1.Health/Check', write, read, service, (error, response) =>
          error ? reject(error) : resolve(response?.status),
        );
      }),
    watch: (service: string) => client.makeServerStreamRequest('/grpc.health.v1.Health/Watch', write, read, service),
  };
}

/** Returns a function that waits for the next state that a watch sends. */
function readStates(watch: ClientReadableStream<HealthCheckResponse>) {
  const messages = watch[Symbol.asyncIterator]();
  return async (): Promise<ServingStatus> => (await messages.next()).value.status;
}

test.each(['', TagService.typeName])('a check of %j returns the readiness of the process', async (service) => {
  const { check, readiness } = await start();
  expect(await check(service)).toBe(ServingStatus.SERVING);
  readiness.set(false);
  expect(await check(service)).toBe(ServingStatus.NOT_SERVING);
});

test('a check of an unknown service fails with NOT_FOUND', async () => {
  const { check } = await start();
  await expect(check('ticketing.tickets.v1.Nothing')).rejects.toMatchObject({ code: status.NOT_FOUND });
});

test('a watch sends the current state and then each change, once', async () => {
  const { watch, readiness } = await start();
  const next = readStates(watch(TagService.typeName));
  expect(await next()).toBe(ServingStatus.SERVING);
  const reads = readiness.reads();
  readiness.set(true);
  await expect.poll(readiness.reads, pollOptions).toBeGreaterThan(reads);
  readiness.set(false);
  expect(await next()).toBe(ServingStatus.NOT_SERVING);
  readiness.set(true);
  expect(await next()).toBe(ServingStatus.SERVING);
});

test('a watch of an unknown service sends SERVICE_UNKNOWN and stays open', async () => {
  const { watch, readiness } = await start();
  const next = readStates(watch('ticketing.tickets.v1.Nothing'));
  expect(await next()).toBe(ServingStatus.SERVICE_UNKNOWN);
  expect(readiness.listenerCount()).toBe(1);
});

test('a watch ends when the client cancels it', async () => {
  const { watch, readiness } = await start();
  const stream = watch('').on('error', () => {});
  await new Promise((resolve) => stream.once('data', resolve));
  expect(readiness.listenerCount()).toBe(1);
  stream.cancel();
  await expect.poll(() => readiness.listenerCount(), pollOptions).toBe(0);
});

test('a watch sends NOT_SERVING when the server stops, and does not delay the stop', async () => {
  const { watch, readiness, server } = await start();
  const stream = watch('');
  const next = readStates(stream);
  expect(await next()).toBe(ServingStatus.SERVING);
  readiness.set(false);
  expect(await next()).toBe(ServingStatus.NOT_SERVING);
  const ended = new Promise<{ code: number }>((resolve) => stream.once('status', resolve));
  await server.close();
  expect(await ended).toMatchObject({ code: status.OK });
  expect(readiness.listenerCount()).toBe(0);
});
