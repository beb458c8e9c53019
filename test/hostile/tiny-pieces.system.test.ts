import type { DescMethod } from '@bufbuild/protobuf';
import { readAccessRule } from '@ticketing/rest/codec/options.ts';
import { type ServiceEntry, services } from '@ticketing/system/services.ts';
import { type DribbledRequest, dribbleHttp1, dribbleHttp2 } from '@ticketing/testkit/dribble.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';

/** More than the pieces that a body of one byte each may have: 10,158. */
const pieces = 20_000;

let system: System;
let authorization: string;
beforeAll(async () => {
  system = await startSystem();
  authorization = `Bearer ${await system.identity.issuerToken({ roleId: 1 })}`;
});
afterAll(() => system.stop());

const json = () => ({ authorization, 'content-type': 'application/json' });
/** Paths of the gateway whose bodies each service reads. */
const restPaths = ['/ticket', '/ticket/search', '/intent/1/execute', '/template', '/skill', '/settings'];

// guarantee: B2
test.each(restPaths)('a body of REST in pieces of one byte is refused: %s', async (path) => {
  const { http: port } = system.findPorts('gateway');
  const result = await dribbleHttp1({ port, path, headers: json(), start: '{"x":"', pieces });
  expect(result.received).toMatch(/^HTTP\/1.1 400 /);
  expect(result.received).toContain('"code":"too_many_pieces"');
});

/** A path of each service whose body its REST API reads. */
const restPathOf = { tickets: '/ticket', intents: '/intent/1/execute', templates: '/template', knowledge: '/skill' };

test.each(Object.entries({ ...restPathOf, settings: '/settings' }))(
  // guarantee: B2
  'a body of REST in pieces of one byte is refused by the service itself: %s',
  async (name, path) => {
    const { http: port } = system.findPorts(name);
    const token = await system.identity.internalToken(name, testCaller({ roleId: 1 }));
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const { received } = await dribbleHttp1({ port, path, headers, start: '{"x":"', pieces });
    expect(received).toMatch(/^HTTP\/1.1 400 /);
    expect(received).toContain('"code":"too_many_pieces"');
  },
);

test('a body of REST in 10,000 pieces of one byte is read', async () => {
  const { http: port } = system.findPorts('gateway');
  const request = { port, path: '/ticket/search', headers: json(), start: '{"limit":1}', pieces: 10_000 };
  expect((await dribbleHttp1(request)).received).toMatch(/^HTTP\/1.1 200 /);
});

const callable = ({ contracts }: ServiceEntry): DescMethod | undefined =>
  contracts
    .flatMap(({ methods }) => methods)
    .find((method) => readAccessRule(method)?.case !== 'service' && method.methodKind === 'unary');
const rpcs = services.flatMap((entry) => {
  const method = callable(entry);
  return method ? [{ name: entry.name, path: `/${method.parent.typeName}/${method.name}` }] : [];
});

// guarantee: B2
test.each(rpcs)('a message of gRPC in frames of one byte is refused: $name', async ({ name, path }) => {
  const { grpc: port } = system.findPorts(name);
  const headers = { authorization, 'content-type': 'application/grpc' };
  // A busy process reads many frames at once, as one piece, so there are more of them: 60,000, as their prefix says.
  const request: DribbledRequest = { port, path, headers, start: '\0\0\0\xea\x5b', pieces: 60_000 };
  const { received } = await dribbleHttp2(request);
  expect(received).toMatch(/grpc-status: 3\n/);
  expect(received).toContain('The%20body%20arrives%20in%20too%20many%20pieces.');
});

/** Requests with as many chunks of one byte as Node reads at once, and with fewer. */
const connectRequests = rpcs.flatMap((rpc) => [500, 8_193, 10_900].map((piecesAtOnce) => ({ ...rpc, piecesAtOnce })));

test.each(connectRequests)(
  // guarantee: B2
  'a message of Connect in $piecesAtOnce chunks of one byte at once is refused: $name',
  async ({ name, path, piecesAtOnce }) => {
    const { http: port } = system.findPorts(name);
    const request = { port, path, headers: json(), start: '{"x":"', piecesAtOnce };
    const { received } = await dribbleHttp1({ ...request, pieces: 2 * pieces });
    expect(received).toMatch(/^HTTP\/1.1 400 /);
    expect(received).toContain('too_many_pieces');
  },
);
