import type { DescMethod } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { readMaxBodyBytes } from '@ticketing/rest/codec/options.ts';
import { services } from '@ticketing/system/services.ts';
import { type HeldResponse, heldRequest } from '@ticketing/testkit/held-request.ts';
import { gRpc, type HostileClient, hostileClient, listJsonProtocols } from '@ticketing/testkit/hostile-rpc.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';

const MiB = 1024 * 1024;
/** The services that have methods with large bodies, and these methods. */
const largeMethods = services
  .map(({ name, contracts }) => ({ name, methods: contracts.flatMap(({ methods }) => methods).filter(isLarge) }))
  .filter(({ methods }) => methods.length > 0);
const toPath = ({ name, parent }: DescMethod) => `/${parent.typeName}/${name}`;

function isLarge(method: DescMethod): boolean {
  return readMaxBodyBytes(method) > 2 * MiB;
}

let system: System;
beforeAll(async () => {
  // Four bodies of 36 MiB fit.
  system = await startSystem({ variables: { MAX_BODY_MIB_IN_FLIGHT: '160' } });
});
afterAll(() => system.stop());

const issueToken = (profileId: number) =>
  system.identity.issuerToken({ kind: 'serviceWorker', roleId: 1, sub: String(profileId) });

/** Others are served while the bodies are held. */
async function expectOthersAreServed(): Promise<void> {
  const { http: port } = system.findPorts('gateway');
  const { status } = await heldRequest({ port, method: 'GET', path: '/ticket/1', body: Buffer.alloc(0) });
  expect(status).toBe(401);
}

// guarantee: B1
// asvs: 5.2.1
test('over REST a service holds no more bytes than the process may, and serves others meanwhile', async () => {
  const { http: port } = system.findPorts('gateway');
  const body = Buffer.from(`{"body":"${'a'.repeat(36 * MiB)}`);
  const upload = async (profileId: number, rest: { heldBytes?: number; signal?: AbortSignal }) => {
    const headers = { authorization: `Bearer ${await issueToken(profileId)}`, 'content-type': 'application/json' };
    return heldRequest({ port, method: 'POST', path: '/ticket', headers, body, ...rest });
  };
  const held = new AbortController();
  const uploads = Array.from({ length: 8 }, (_, nth) => upload(800 + nth, { heldBytes: 100, signal: held.signal }));
  const refused: HeldResponse[] = [];
  for (const one of uploads) void one.then((response) => refused.push(response));
  await expect.poll(() => refused.length).toBeGreaterThanOrEqual(4);
  await expectOthersAreServed();
  for (const response of refused) {
    expect(response.status).toBe(503);
    expect(response.headers['retry-after']).toBe('1');
    expect(JSON.parse(response.text)).toMatchObject({ code: 'bodies_in_flight' });
  }
  held.abort();
  await Promise.all(uploads);
  // The bytes of a client that has gone are given back: the body is read whole, and found to be no JSON.
  await expect.poll(async () => (await upload(900, {})).status).toBe(400);
});

test.each(largeMethods)(
  // guarantee: B1
  'over RPC a service holds no more bytes than the process may, and serves others meanwhile: $name',
  async ({ name, methods }) => {
    const clients: HostileClient[] = [hostileClient(system.findPorts(name))];
    const isServed = async (method: DescMethod) => {
      const probe = { protocol: gRpc, path: toPath(method), body: Buffer.alloc(5) };
      return (await clients[0]?.send(probe))?.httpStatus !== 404;
    };
    const [method] = (await Promise.all(methods.map(async (one) => ((await isServed(one)) ? [one] : [])))).flat();
    // The first methods of a service that is being built have small bodies.
    if (!method) return clients[0]?.close();
    const [protocol = expect.unreachable('every method can be called with JSON')] = listJsonProtocols(method);
    const path = toPath(method);
    const body = Buffer.alloc(36 * MiB);
    const upload = async (profileId: number, held?: { heldBytes: number }) => {
      const client = hostileClient(system.findPorts(name));
      clients.push(client);
      body.writeUInt32BE(body.length + (held?.heldBytes ?? 0) - 5, 1);
      return client.send({ protocol, path, token: await issueToken(profileId), body, ...held });
    };
    const refused: (Code | undefined)[] = [];
    const uploads = Array.from({ length: 8 }, (_, nth) => upload(600 + nth, { heldBytes: 100 }));
    for (const one of uploads) void one.then(({ code }) => refused.push(code));
    await expect.poll(() => refused.length).toBeGreaterThanOrEqual(4);
    await expectOthersAreServed();
    expect(refused).toEqual(refused.map(() => Code.Unavailable));
    for (const client of clients) client.close();
    await Promise.all(uploads);
    await expect.poll(async () => (await upload(700)).code).toBe(Code.InvalidArgument);
    for (const client of clients) client.close();
  },
);
