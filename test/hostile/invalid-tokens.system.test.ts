import { Code } from '@connectrpc/connect';
import { readAccessRule } from '@ticketing/rest/codec/options.ts';
import { services } from '@ticketing/system/services.ts';
import { heldRequest } from '@ticketing/testkit/held-request.ts';
import { hostileClient, listBinaryProtocols, type RpcProtocol } from '@ticketing/testkit/hostile-rpc.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';

const limit = 4;

let system: System;
beforeAll(async () => {
  system = await startSystem({ variables: { FAILED_TOKENS_PER_MINUTE: String(limit) } });
});
afterAll(() => system.stop());

/** Sends a token to the first route of a service. */
async function callRest(port: number, token: string) {
  const document = await fetch(`http://127.0.0.1:${port}/openapi.json`);
  const { paths } = (await document.json()) as { paths: Record<string, object> };
  const [path = '', operations = {}] = Object.entries(paths)[0] ?? [];
  const [method = ''] = Object.keys(operations);
  const headers = { authorization: `Bearer ${token}` };
  const filled = path.replaceAll(/\{\w+\}/g, '1');
  return heldRequest({ port, method: method.toUpperCase(), path: filled, headers, body: Buffer.alloc(0) });
}

describe.each(services.map((entry) => [entry.name, entry] as const))(
  'an address that guesses tokens of %s',
  (name, entry) => {
    // guarantee: C15
    // asvs: 6.3.1
    test('is refused on every port when it has sent as many as the limit, with a valid token too', async () => {
      const ports = system.findPorts(name);
      const client = hostileClient(ports);
      const [first] = entry.contracts
        .flatMap(({ typeName, methods }) => methods.map((method) => ({ method, path: `/${typeName}/${method.name}` })))
        .filter(({ method }) => method.methodKind === 'unary' && readAccessRule(method)?.case !== 'service');
      const protocols: readonly RpcProtocol[] = first ? listBinaryProtocols(first.method) : [];
      const call = (protocol: RpcProtocol, token: string) =>
        client.send({ protocol, path: first?.path ?? '', token, body: Buffer.alloc(protocol.isEnveloped ? 5 : 0) });

      for (const protocol of protocols) {
        expect((await call(protocol, 'x.y.z')).code, protocol.name).toBe(Code.Unauthenticated);
      }
      for (let sent = protocols.length; sent < limit; sent++) {
        expect((await callRest(ports.http, 'x.y.z')).status).toBe(401);
      }
      const token = await system.identity.issuerToken({ roleId: 1 });
      for (const protocol of protocols) {
        const { code, headers } = await call(protocol, token);
        expect(code, protocol.name).toBe(Code.ResourceExhausted);
        expect(Number(headers['retry-after']), protocol.name).toBeGreaterThan(0);
      }
      const refused = await callRest(ports.http, token);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      client.close();
    });
  },
);
