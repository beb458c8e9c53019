import type { DescMethod } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { accessOf, isEventStream, restRuleOf } from '@ticketing/rest/options.ts';
import { services, variableOf } from '@ticketing/system/services.ts';
import { badTokens } from '@ticketing/testkit/bad-tokens.ts';
import { bodyOf, gRpc, type HostileClient, hostileClient } from '@ticketing/testkit/hostile-rpc.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';
import { matrixOf } from './access-matrix.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem({
    variables: { RATE_LIMITS: 'user=100000000,serviceWorker=100000000' },
    limits: { followersOfCaller: 0 },
  });
});
afterAll(() => system.stop());

/** Whether the code is one for a caller who may call: anything but that the credential or the right is missing. */
const isLetIn = (code: Code | undefined) => code !== Code.Unauthenticated && code !== Code.PermissionDenied;

describe.each(matrixOf(services).map((one) => [one.service.name, one] as const))('who may call %s', (name, one) => {
  const { service, methods } = one;
  const other = services.find((candidate) => candidate.name !== name && candidate.contracts.length > 0)?.name ?? '';
  const { internalToken, issuerToken } = {
    internalToken: (...values: Parameters<System['identity']['internalToken']>) =>
      system.identity.internalToken(...values),
    issuerToken: (claims: object) => system.identity.issuerToken(claims),
  };
  let client: HostileClient;
  beforeAll(() => {
    client = hostileClient(system.portsOf(name));
  });
  afterAll(() => client.close());

  /** Calls a method by gRPC with an empty message. */
  async function callRpc(method: DescMethod, token: string | undefined) {
    const path = `/${method.parent.typeName}/${method.name}`;
    return (await client.send({ protocol: gRpc, path, token, body: bodyOf(gRpc, new Uint8Array(), 'identity') })).code;
  }

  /** Calls a method by REST, at the service or at the gateway. Returns the status; 200 begins the response of a stream. */
  async function callRest(url: string, method: DescMethod, headers: Record<string, string>) {
    const rule = restRuleOf(method);
    const path = rule?.path.replaceAll(/\{\w+\}/g, '1') ?? '';
    const accept: Record<string, string> = isEventStream(method) ? { accept: 'text/event-stream' } : {};
    const response = await fetch(url + path, { method: rule?.method ?? 'GET', headers: { ...accept, ...headers } });
    await response.body?.cancel();
    return response.status;
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  test.each(methods.map((method) => [method.name, method] as const))('%s, over RPC', async (_, method) => {
    const access = accessOf(method);
    const right = access?.case === 'right' ? access.value : '';
    const otherRights = rightsOf().filter((one) => one !== right);
    const person = testCaller({ permissions: [right] });
    const rows: [string, string | undefined, boolean, Code?][] = [
      ['no token', undefined, false, Code.Unauthenticated],
      ['an internal token for another service', await internalToken(other, person), false, Code.Unauthenticated],
      ['a person without rights', await issuerToken({}), access?.case === 'authenticated'],
      [
        'a person with all other rights',
        await issuerToken({ permissions: otherRights }),
        access?.case === 'authenticated',
      ],
      ['a person with the right', await issuerToken({ permissions: [right] }), access?.case !== 'service'],
      ['an administrator', await issuerToken({ roleId: 1 }), access?.case !== 'service'],
      ['a person, for whom a service vouches', await internalToken(name, person), access?.case !== 'service'],
      ['a service', await internalToken(name, testCaller({ kind: 'service' }), other), access?.case !== 'right'],
    ];
    for (const [who, token, isAllowed, expected = Code.PermissionDenied] of rows) {
      const code = await callRpc(method, token);
      if (isAllowed) expect(isLetIn(code), `${who}: ${code}`).toBe(true);
      else expect(code, who).toBe(expected);
    }
  });

  test.each(methods.filter((method) => restRuleOf(method)).map((method) => [method.name, method] as const))(
    '%s, over REST',
    async (_, method) => {
      const access = accessOf(method);
      const right = access?.case === 'right' ? access.value : '';
      const lesser = access?.case === 'right' ? 403 : undefined;
      const own = `http://127.0.0.1:${system.portsOf(name).http}`;
      const otherRights = rightsOf().filter((one) => one !== right);
      const cookie = (token: string) => ({
        cookie: `__Host-ticketing_session=${token}`,
        'sec-fetch-site': 'cross-site',
      });
      const isSafe = restRuleOf(method)?.method === 'GET' && !restRuleOf(method)?.sameOriginOnly;
      const rows: [string, string, Record<string, string>, number | undefined][] = [
        ['no token, at the service', own, {}, 401],
        ['an issuer token, at the service', own, bearer(await issuerToken({ roleId: 1 })), 401],
        ['a token for another service', own, bearer(await internalToken(other, testCaller({ roleId: 1 }))), 401],
        ['a person without rights, at the service', own, bearer(await internalToken(name, testCaller())), lesser],
        ['no token', system.url, {}, 401],
        ['an internal token', system.url, bearer(await internalToken(name, testCaller({ roleId: 1 }))), 401],
        ['a person without rights', system.url, bearer(await issuerToken({})), lesser],
        ['all other rights', system.url, bearer(await issuerToken({ permissions: otherRights })), lesser],
        ['the right', system.url, bearer(await issuerToken({ permissions: [right] })), undefined],
        ['an administrator', system.url, bearer(await issuerToken({ roleId: 1 })), undefined],
        [
          'the cookie, from another site',
          system.url,
          cookie(await issuerToken({ roleId: 1 })),
          isSafe ? undefined : 403,
        ],
      ];
      for (const [who, url, headers, expected] of rows) {
        const status = await callRest(url, method, headers);
        if (expected === undefined) expect([401, 403], `${who}: ${status}`).not.toContain(status);
        else expect(status, who).toBe(expected);
      }
    },
  );

  test('nobody with a bad token, over REST and RPC', async () => {
    const jwksFile = system.environment[variableOf(name, 'JWKS_FILE')] ?? '';
    const [method] = methods.filter(
      (candidate) => accessOf(candidate)?.case === 'authenticated' || restRuleOf(candidate),
    );
    if (!method) throw new Error(`${service.name} has no method for people`);
    for (const [what, token] of await badTokens(system.identity, jwksFile, other)) {
      expect(await callRpc(method, token === '' ? undefined : token), what).toBe(Code.Unauthenticated);
      for (const url of [`http://127.0.0.1:${system.portsOf(name).http}`, system.url]) {
        const headers = token === '' ? {} : bearer(token);
        expect(await callRest(url, method, headers), `${what} at ${url}`).toBe(401);
      }
    }
  });
});

/** All rights that a method needs. */
function rightsOf(): string[] {
  const all = services.flatMap(({ contracts }) => contracts.flatMap(({ methods }) => methods.map(accessOf)));
  return [...new Set(all.flatMap((access) => (access?.case === 'right' ? [access.value] : [])))];
}
