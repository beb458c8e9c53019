import type { DescMethod } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { isEventStream, readAccessRule, readRestRule, serviceCallers } from '@ticketing/rest/codec/options.ts';
import { type Caller, serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { services, variableName } from '@ticketing/system/services.ts';
import { badTokens } from '@ticketing/testkit/bad-tokens.ts';
import { gRpc, type HostileClient, hostileClient, toBody } from '@ticketing/testkit/hostile-rpc.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';
import { toMatrix } from './access-matrix.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem({
    variables: { RATE_LIMITS: 'user=100000000,serviceWorker=100000000' },
    limits: { followersOfCaller: 0 },
  });
});
afterAll(() => system.stop());

/** A caller, its token, whether it may call the method, and the code of the refusal if not. */
type Row = [who: string, token: string | undefined, isAllowed: boolean, refusal?: Code];

/** The code for a service that may not call a method. A service does not know the services that never call it. */
const refusalUnless = (isKnown: boolean) => (isKnown ? Code.PermissionDenied : Code.Unauthenticated);

/** Whether the caller may call: the code reports neither a missing credential nor a missing right. */
const isLetIn = (code: Code | undefined) => code !== Code.Unauthenticated && code !== Code.PermissionDenied;

describe.each(toMatrix(services).map((one) => [one.service.name, one] as const))('who may call %s', (name, one) => {
  const { service, methods } = one;
  const other = services.find((candidate) => candidate.name !== name && candidate.contracts.length > 0)?.name ?? '';
  const { internalToken, issuerToken } = {
    internalToken: (...values: Parameters<System['identity']['internalToken']>) =>
      system.identity.internalToken(...values),
    issuerToken: (claims: object) => system.identity.issuerToken(claims),
  };
  let client: HostileClient;
  beforeAll(() => {
    client = hostileClient(system.findPorts(name));
  });
  afterAll(() => client.close());

  /** Calls a method by gRPC with an empty message. */
  async function callRpc(method: DescMethod, token: string | undefined) {
    const path = `/${method.parent.typeName}/${method.name}`;
    return (await client.send({ protocol: gRpc, path, token, body: toBody(gRpc, new Uint8Array(), 'identity') })).code;
  }

  /** Each service, on its own behalf and with a person for whom it vouches. */
  async function rowsOfServices(method: DescMethod, person: Caller): Promise<Row[]> {
    const access = readAccessRule(method)?.case;
    const rows = services.map(async ({ name: from, calls, forwardsCallersTo }): Promise<Row[]> => {
      const mayCall = access === 'authenticated' || serviceCallers(method).includes(from);
      const self = await internalToken(name, serviceCaller(from), from);
      const forwarded = await internalToken(name, person, from);
      const doesForward = forwardsCallersTo.includes(name);
      return [
        [from, self, calls.includes(name) && mayCall, refusalUnless(calls.includes(name))],
        [
          `${from} for a person`,
          forwarded,
          doesForward ? access !== 'service' : calls.includes(name) && mayCall,
          refusalUnless(calls.includes(name)),
        ],
      ];
    });
    return (await Promise.all(rows)).flat();
  }

  /** Calls a method by REST, at the service or at the gateway. Returns the status; 200 begins the response of a stream. */
  async function callRest(url: string, method: DescMethod, headers: Record<string, string>) {
    const rule = readRestRule(method);
    const path = rule?.path.replaceAll(/\{\w+\}/g, '1') ?? '';
    const accept: Record<string, string> = isEventStream(method) ? { accept: 'text/event-stream' } : {};
    const response = await fetch(url + path, { method: rule?.method ?? 'GET', headers: { ...accept, ...headers } });
    await response.body?.cancel();
    return response.status;
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  // guarantee: C4, C12
  // asvs: 8.2.1, 9.2.3-9.2.4
  test.each(methods.map((method) => [method.name, method] as const))('%s, over RPC', async (_, method) => {
    const access = readAccessRule(method);
    const right = access?.case === 'right' ? access.value : '';
    const otherRights = listRights().filter((one) => one !== right);
    const person = testCaller({ permissions: [right] });
    const rows: Row[] = [
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
      ['an expired person', await internalToken(name, { ...person, expiresAt: 5 }), false, Code.Unauthenticated],
      ...(await rowsOfServices(method, person)),
    ];
    for (const [who, token, isAllowed, expected = Code.PermissionDenied] of rows) {
      const code = await callRpc(method, token);
      if (isAllowed) expect(isLetIn(code), `${who}: ${code}`).toBe(true);
      else expect(code, who).toBe(expected);
    }
  });

  test.each(methods.filter((method) => readRestRule(method)).map((method) => [method.name, method] as const))(
    // guarantee: C4, C12
    // asvs: 8.2.1, 9.2.3-9.2.4
    '%s, over REST',
    async (_, method) => {
      const access = readAccessRule(method);
      const right = access?.case === 'right' ? access.value : '';
      const lesser = access?.case === 'right' ? 403 : undefined;
      const own = `http://127.0.0.1:${system.findPorts(name).http}`;
      const otherRights = listRights().filter((one) => one !== right);
      const cookie = (token: string) => ({
        cookie: `__Host-ticketing_session=${token}`,
        'sec-fetch-site': 'cross-site',
      });
      const admin = testCaller({ roleId: 1 });
      const expired = { ...admin, expiresAt: 5 };
      const isSafe = readRestRule(method)?.method === 'GET' && !readRestRule(method)?.sameOriginOnly;
      const rows: [string, string, Record<string, string>, number | undefined][] = [
        ['no token, at the service', own, {}, 401],
        ['an issuer token, at the service', own, bearer(await issuerToken({ roleId: 1 })), 401],
        ['a token for another service', own, bearer(await internalToken(other, admin)), 401],
        ['a person without rights, at the service', own, bearer(await internalToken(name, testCaller())), lesser],
        ['an expired person, at the service', own, bearer(await internalToken(name, expired)), 401],
        [
          'an administrator, by a service that does not call this one',
          own,
          bearer(await internalToken(name, admin, name)),
          401,
        ],
        ['no token', system.url, {}, 401],
        ['an internal token', system.url, bearer(await internalToken(name, admin)), 401],
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

  // guarantee: C1
  // asvs: 6.3.4, 9.1.2
  test('nobody with a bad token, over REST and RPC', async () => {
    const jwksFile = system.environment[variableName(name, 'JWKS_FILE')] ?? '';
    const [method] = methods.filter(
      (candidate) => readAccessRule(candidate)?.case === 'authenticated' || readRestRule(candidate),
    );
    if (!method) throw new Error(`${service.name} has no method for people`);
    for (const [what, token] of await badTokens(system.identity, jwksFile, other)) {
      expect(await callRpc(method, token === '' ? undefined : token), what).toBe(Code.Unauthenticated);
      for (const url of [`http://127.0.0.1:${system.findPorts(name).http}`, system.url]) {
        const headers = token === '' ? {} : bearer(token);
        expect(await callRest(url, method, headers), `${what} at ${url}`).toBe(401);
      }
    }
  });
});

/** All rights that a method needs. */
function listRights(): string[] {
  const all = services.flatMap(({ contracts }) => contracts.flatMap(({ methods }) => methods.map(readAccessRule)));
  return [...new Set(all.flatMap((access) => (access?.case === 'right' ? [access.value] : [])))];
}
