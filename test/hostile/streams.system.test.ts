import { once } from 'node:events';
import { Code } from '@connectrpc/connect';
import { readAccessRule } from '@ticketing/rest/codec/options.ts';
import { services } from '@ticketing/system/services.ts';
import { gRpc, hostileClient } from '@ticketing/testkit/hostile-rpc.ts';
import { untilStill } from '@ticketing/testkit/until-still.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';

const rpcServices = services.filter(({ contracts }) => contracts.length > 0);

let system: System;
beforeAll(async () => {
  system = await startSystem({ limits: { goAwayMs: 500 }, variables: { RATE_LIMITS: 'vendor=3' } });
});
afterAll(() => system.stop());

describe.each(rpcServices.map((entry) => [entry.name, entry] as const))('connections to %s', (name, entry) => {
  const methods = entry.contracts
    .flatMap(({ typeName, methods }) => methods.map((method) => ({ method, path: `/${typeName}/${method.name}` })))
    .filter(({ method }) => readAccessRule(method)?.case !== 'service');
  const path = methods[0]?.path ?? '';
  const held = { protocol: gRpc, path, body: Buffer.alloc(6), heldBytes: 100 };
  const issueToken = (claims: object) => system.identity.issuerToken(claims);

  // guarantee: A6
  test('have at most 100 streams', async () => {
    const client = hostileClient(system.findPorts(name));
    await once(client.session, 'remoteSettings');
    expect(client.session.remoteSettings.maxConcurrentStreams).toBe(100);
    client.close();
  });

  // guarantee: B1
  test('a person may have 32 calls in flight, and one more is refused', async () => {
    const client = hostileClient(system.findPorts(name));
    const token = await issueToken({ kind: 'user', roleId: 1, sub: '501' });
    const otherToken = await issueToken({ kind: 'user', roleId: 1, sub: '502' });
    const ended: [string, Code | undefined][] = [];
    const upload = async (who: string, its: string) => {
      const { code } = await client.send({ ...held, token: its });
      ended.push([who, code]);
    };
    const uploads = [...Array.from({ length: 33 }, () => upload('the person', token)), upload('another', otherToken)];
    await expect.poll(() => ended.length).toBeGreaterThan(0);
    await untilStill(() => ended.length);
    expect(ended).toEqual([['the person', Code.ResourceExhausted]]);
    client.close();
    await Promise.all(uploads);
  });

  // guarantee: B1
  test('a caller with a token of the issuer has a rate limit, and its responses say so', async () => {
    const client = hostileClient(system.findPorts(name));
    const token = await issueToken({ kind: 'vendor', roleId: 1, sub: '503' });
    const call = () => client.send({ protocol: gRpc, path, token, body: Buffer.alloc(5) });
    for (const remaining of ['2', '1', '0']) {
      const { headers } = await call();
      expect(headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': remaining });
    }
    const refused = await call();
    expect(refused.code).toBe(Code.ResourceExhausted);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    client.close();
  });
});
