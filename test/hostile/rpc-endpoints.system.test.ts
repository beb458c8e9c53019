import { type DescMethod, ScalarType } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { isEventStream, readAccessRule, readMaxBodyBytes } from '@ticketing/rest/codec/options.ts';
import type { RunningService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { services, variableName } from '@ticketing/system/services.ts';
import {
  type Compression,
  gRpc,
  type HostileClient,
  hostileClient,
  listBinaryProtocols,
  listJsonProtocols,
  type RpcProtocol,
  toBody,
} from '@ticketing/testkit/hostile-rpc.ts';
import { untilReady } from '@ticketing/testkit/until-ready.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadService } from '../../tools/dev/load-services.ts';
import { type System, startSystem } from '../e2e/harness.ts';

const rpcServices = services.filter(({ contracts }) => contracts.length > 0);
const listEnvelopedProtocols = (method: DescMethod) =>
  listBinaryProtocols(method).filter(({ isEnveloped }) => isEnveloped);
const listProtocols = (method: DescMethod) => [...listBinaryProtocols(method), ...listJsonProtocols(method)];
const noSideEffects = MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

// Streams that have no end are refused, so that every call of these tests ends.
const limits = { goAwayMs: 300, anonymousCalls: 5, followersOfCaller: 0 };
let system: System;
let admin: string;

beforeAll(async () => {
  system = await startSystem({ limits });
  admin = await system.identity.issuerToken({ roleId: 1, kind: 'serviceWorker' });
});
afterAll(() => system.stop());

/** Starts another process of a service of the system, which does not wait long for a body. */
async function startImpatient(name: string): Promise<RunningService> {
  const own = Object.entries({ ROLES: 'api', HTTP_PORT: '0', GRPC_PORT: '0', INTERNAL_PORT: '0' });
  const variables = Object.fromEntries(own.map(([key, value]) => [variableName(name, key), value]));
  const service = await loadService(name);
  const started = await service.start({ ...system.environment, ...variables }, { limits: { ...limits, bodyMs: 400 } });
  await untilReady(`http://127.0.0.1:${started.ports.http}`);
  return started;
}

/** Other spellings of a path, some of which a router takes for the same path. */
const readSpellings = (path: string) => [
  path,
  `${path}?x=1`,
  path.replace(/.$/, (last) => `%${last.charCodeAt(0).toString(16)}`),
  path.replace(/^\/./, (first) => `/%${first.charCodeAt(1).toString(16)}`),
  `/${path}`,
  `${path}/`,
  path.toUpperCase(),
  `/.${path}`,
];

describe.each(rpcServices.map((entry) => [entry.name, entry] as const))('the RPCs of %s', (_name, entry) => {
  // Opened here, because a service ends a connection that nobody uses while the other services are tested.
  let client: HostileClient;
  /** The methods that the service serves, with their paths. */
  let served: { method: DescMethod; path: string }[];
  let impatient: RunningService;

  beforeAll(async () => {
    client = hostileClient(system.findPorts(entry.name));
    const methods = entry.contracts.flatMap(({ typeName, methods }) =>
      methods.map((method) => ({ method, path: `/${typeName}/${method.name}` })),
    );
    const probes = methods.map(({ path }) => client.send({ protocol: gRpc, path, body: Buffer.alloc(5) }));
    const isServed = (await Promise.all(probes)).map(({ httpStatus }) => httpStatus !== 404);
    served = methods.filter((_, index) => isServed[index]);
    impatient = await startImpatient(entry.name);
  });
  afterAll(async () => {
    client.close();
    await impatient.stop();
  });

  const held = (protocol: RpcProtocol, path: string, token?: string) =>
    client.send({ protocol, path, token, body: Buffer.alloc(1024), heldBytes: 30_000_000 });
  const impatientClient = () => {
    const opened = hostileClient(impatient.ports);
    onTestFinished(() => opened.close());
    return opened;
  };

  // guarantee: A1
  test('refuse a caller without a credential before its body has arrived, however the path is spelt', async () => {
    for (const { method, path } of served) {
      for (const protocol of listProtocols(method)) {
        for (const spelling of readSpellings(path)) {
          const { code, httpStatus } = await held(protocol, spelling);
          const where = `${spelling} over ${protocol.name}`;
          expect(code === Code.Unauthenticated || httpStatus === 404 || httpStatus === 400, `${where}: ${code}`).toBe(
            true,
          );
          if (spelling === path) expect(code, where).toBe(Code.Unauthenticated);
        }
      }
    }
  });

  // guarantee: A1
  test('refuse a caller without the right before its body has arrived', async () => {
    const token = await system.identity.issuerToken({ permissions: [] });
    for (const { method, path } of served) {
      if (readAccessRule(method)?.case === 'authenticated') continue;
      for (const protocol of listProtocols(method)) {
        const { code } = await held(protocol, path, token);
        expect(code, `${path} over ${protocol.name}`).toBe(Code.PermissionDenied);
      }
    }
  });

  // guarantee: A3
  test('ask for a body with 100 Continue when the call was admitted, and not before', async () => {
    const withoutRight = await system.identity.issuerToken({ permissions: [] });
    for (const { method, path } of served) {
      for (const protocol of listProtocols(method)) {
        const where = `${path} over ${protocol.name}`;
        const headers = { expect: '100-continue' };
        const body = toBody(protocol, new Uint8Array(), 'identity');
        const ask = (token?: string) => client.send({ protocol, path, token, headers, body });
        expect(await ask(), where).toMatchObject({ code: Code.Unauthenticated, isContinued: false });
        if (readAccessRule(method)?.case !== 'authenticated') {
          expect(await ask(withoutRight), where).toMatchObject({ code: Code.PermissionDenied, isContinued: false });
        }
        if (readAccessRule(method)?.case !== 'service' && body.length > 0 && !isEventStream(method)) {
          expect(await ask(admin), where).toMatchObject({ isContinued: true });
        }
      }
    }
  });

  test('end with deadline_exceeded when the deadline of the client has passed, and shorten one that is too long', async () => {
    let exceeded = 0;
    for (const { method, path } of allowedMethods()) {
      for (const protocol of listProtocols(method)) {
        const isJson = protocol.contentType.includes('json');
        const body = toBody(protocol, Buffer.from(isJson ? '{}' : ''), 'identity');
        const send = async (grpcTimeout: string, ms: string) => {
          const headers = { 'grpc-timeout': grpcTimeout, 'connect-timeout-ms': ms };
          return (await client.send({ protocol, path, token: admin, headers, body })).code;
        };
        const where = `${path} over ${protocol.name}`;
        // An invalid request may be refused before its deadline is checked.
        const [passed, usual] = [await send('0m', '0'), await send('10S', '10000')];
        if (passed === Code.DeadlineExceeded) exceeded += 1;
        else expect([passed, usual], where).toEqual([Code.InvalidArgument, Code.InvalidArgument]);
        expect(await send('31S', '30001'), where).toBe(usual);
      }
    }
    expect(exceeded).toBeGreaterThan(0);
  });

  // guarantee: A6
  test('end an upload that does not arrive in time', async () => {
    const other = impatientClient();
    const uploads = allowedMethods().flatMap(({ method, path }) =>
      listProtocols(method).map(async (protocol) => {
        const body = protocol.isEnveloped ? Buffer.from([0, 0, 0, 1, 0, 1]) : Buffer.from('{');
        const { code } = await other.send({ protocol, path, token: admin, body, heldBytes: 255 });
        expect(code, `${path} over ${protocol.name}`).toBe(Code.DeadlineExceeded);
      }),
    );
    await Promise.all(uploads);
  });

  // guarantee: A6
  // asvs: 1.5.2
  test('refuse messages with too many parts, and those that decompress to more than the method accepts', async () => {
    // Methods with the same limit get the same bytes, which take some time to compress.
    const largeBodies = new Map<string, Buffer>();
    for (const { method, path } of allowedMethods()) {
      for (const protocol of listBinaryProtocols(method)) {
        for (const compression of ['identity', 'gzip', 'br'] as const) {
          const parts = Buffer.alloc(510_000, Buffer.from([0x78, 0]));
          const complex = toBody(protocol, parts, compression);
          const { code } = await client.send({ protocol, path, token: admin, compression, body: complex });
          expect(code, `${path} over ${protocol.name}, ${compression}`).toBe(Code.InvalidArgument);
          if (compression === 'identity') continue;
          const maxBytes = readMaxBodyBytes(method);
          const key = `${protocol.isEnveloped} ${compression} ${maxBytes}`;
          const large = largeBodies.get(key) ?? toBody(protocol, Buffer.alloc(maxBytes + 1), compression);
          largeBodies.set(key, large);
          const response = await client.send({ protocol, path, token: admin, compression, body: large });
          expect(response.code, `${path} over ${protocol.name}, ${compression}`).toBe(Code.ResourceExhausted);
        }
      }
    }
  });

  test('are limited whatever the case of their media type', async () => {
    for (const { method, path } of allowedMethods()) {
      for (const protocol of listBinaryProtocols(method)) {
        const contentType = protocol.contentType.replace('application', 'Application');
        const body = toBody(protocol, Buffer.alloc(510_000, Buffer.from([0x78, 0])), 'gzip');
        const request = { protocol: { ...protocol, contentType }, path, token: admin, body };
        const { code, httpStatus } = await client.send({ ...request, compression: 'gzip' });
        expect(code === Code.InvalidArgument || httpStatus === 415, `${path} over ${protocol.name}: ${code}`).toBe(
          true,
        );
      }
    }
  });

  test('treat a compressed message as the same message that is not compressed', async () => {
    const seen = new Set<Code | undefined>();
    for (const { method, path } of allowedMethods()) {
      for (const protocol of listProtocols(method)) {
        const isJson = protocol.contentType.includes('json');
        // The message has another length when it is compressed: the length of the compressed bytes is announced.
        const message = isJson ? Buffer.from(`{${' '.repeat(100)}}`) : Buffer.from([0x98, 0x75, 0x01]);
        const send = async (compression: Compression) => {
          const body = toBody(protocol, message, compression);
          return (await client.send({ protocol, path, token: admin, compression, body })).code;
        };
        const plain = await send('identity');
        for (const compression of ['gzip', 'br'] as const) {
          expect(await send(compression), `${path} over ${protocol.name}, ${compression}`).toBe(plain);
        }
        seen.add(plain);
      }
    }
    // An empty message is valid for some method.
    expect(seen).toContain(undefined);
  });

  // guarantee: A5
  test('refuse JSON that is nested too deeply, has too many parts, or is no UTF-8', async () => {
    const bodies = ['{"x":'.repeat(20_000), `[${'1,'.repeat(300_000)}1]`, Buffer.from([0x7b, 0xff, 0x7d])];
    for (const { method, path } of allowedMethods()) {
      for (const protocol of listJsonProtocols(method)) {
        for (const [index, text] of bodies.entries()) {
          const body = toBody(protocol, Buffer.from(text), 'identity');
          const { code } = await client.send({ protocol, path, token: admin, body });
          expect(code, `${path} over ${protocol.name}, body ${index}`).toBe(Code.InvalidArgument);
        }
      }
    }
  });

  test('treat a message in a URL like one in a body', async () => {
    const readable = allowedMethods().filter(({ method }) => method.idempotency === noSideEffects);
    const deep = '{"x":'.repeat(300);
    const queries = [
      'encoding=proto&base64=1&message=A',
      'encoding=proto&base64=1&message=!!!!',
      'encoding=proto&message=%08',
      `encoding=json&message=${deep}`,
      `encoding=json&encoding=json&message=${deep}`,
      'encoding=json&message=%7B%22__proto__%22:1%7D',
    ];
    for (const { method, path } of readable.filter((one) => one.method.methodKind === 'unary')) {
      const text = method.input.fields.find(
        ({ scalar, fieldKind }) => scalar === ScalarType.STRING && fieldKind === 'scalar',
      );
      const notUtf8 = text ? [`encoding=json&message=%7B%22${text.jsonName}%22:%22%FF%22%7D`] : [];
      for (const query of [...queries, ...notUtf8]) {
        const url = `http://127.0.0.1:${system.findPorts(entry.name).http}${path}?connect=v1&${query}`;
        const response = await fetch(url, { headers: { authorization: `Bearer ${admin}` } });
        expect(response.status, `${method.name} ${query.slice(0, 60)}`).toBe(400);
      }
    }
  });

  // asvs: 4.2.1
  test('refuse a body with a second message, or with a wrong length', async () => {
    const bodies = [
      [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 5, 1],
      [1, 0, 0, 0, 0],
      [0, 0],
      [128, 0, 0, 0, 0],
    ];
    for (const { method, path } of allowedMethods()) {
      for (const protocol of listEnvelopedProtocols(method)) {
        for (const bytes of bodies) {
          const { code } = await client.send({ protocol, path, token: admin, body: Buffer.from(bytes) });
          expect(code, `${path} over ${protocol.name}, ${bytes}`).toBe(Code.InvalidArgument);
        }
      }
    }
  });

  // guarantee: A6
  test('of health and reflection have a limit of calls in flight, of bytes and of time', async () => {
    const protocol = gRpc;
    const watch = () => client.send({ protocol, path: '/grpc.health.v1.Health/Watch', body: Buffer.alloc(5) });
    const watches = Array.from({ length: 5 }, watch);
    await expect.poll(async () => (await watch()).code).toBe(Code.ResourceExhausted);
    const check = { protocol, path: '/grpc.health.v1.Health/Check' };
    const large = toBody(protocol, Buffer.alloc(5000), 'identity');
    expect((await client.send({ ...check, body: large })).code).toBe(Code.ResourceExhausted);
    const other = impatientClient();
    const isLate = { code: Code.DeadlineExceeded };
    expect(await other.send({ ...check, body: Buffer.alloc(2), heldBytes: 9 })).toMatchObject(isLate);
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
    await other.send({ protocol, path, body: Buffer.alloc(5), heldBytes: 9 });
    // Only the stream has ended, and not its connection.
    expect(await other.send({ ...check, body: Buffer.alloc(2), heldBytes: 9 })).toMatchObject(isLate);
    expect((await client.send({ protocol, path, body: large })).code).toBe(Code.ResourceExhausted);
    const many = Buffer.concat(Array.from({ length: 101 }, () => Buffer.alloc(5)));
    expect((await client.send({ protocol, path, body: many })).code).toBe(Code.ResourceExhausted);
    client.close();
    await Promise.all(watches);
    client = hostileClient(system.findPorts(entry.name));
  });

  /** The methods that an administrator may call: all but those for other services, and those that do not end. */
  function allowedMethods() {
    return served.filter(({ method }) => readAccessRule(method)?.case !== 'service' && !isEventStream(method));
  }
});
