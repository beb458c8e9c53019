import { randomUUID } from 'node:crypto';
import type { DescMethod, JsonObject } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { readFieldRules, readRestRule, serviceCallers, takesIdempotencyKey } from '@ticketing/rest/codec/options.ts';
import { createGrpcTransport } from '@ticketing/service-kit/client/grpc-transport.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import { services } from '@ticketing/system/services.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';
import {
  type Api,
  callRpc,
  idFor,
  isRefused,
  nested,
  pathsTo,
  replayedBody,
  restApi,
  rpcApi,
  smallestRequest,
  toSteps,
} from './field-request.ts';

const rpcServices = services.filter(({ contracts }) => contracts.length > 0);
const admin = testCaller({ kind: 'serviceWorker', roleId: 1 });

let system: System;
const transports = new Map<string, ReturnType<typeof createGrpcTransport>>();
/** The methods of each service that it serves. */
const served = new Map<string, DescMethod[]>();

beforeAll(async () => {
  system = await startSystem();
  for (const { name, contracts } of rpcServices) {
    const target = `127.0.0.1:${system.findPorts(name).grpc}`;
    const transport = createGrpcTransport({ target, services: [...contracts], defaultTimeoutMs: 10_000 });
    transports.set(name, transport);
    const methods = contracts.flatMap((contract) => contract.methods);
    const isServed = await Promise.all(methods.map((method) => isMethodServed(transport, method)));
    served.set(
      name,
      methods.filter((_, index) => isServed[index]),
    );
  }
});
afterAll(async () => {
  for (const transport of transports.values()) transport.close();
  await system.stop();
});

async function isMethodServed(transport: ReturnType<typeof createGrpcTransport>, method: DescMethod): Promise<boolean> {
  try {
    await callRpc(transport, method, {});
    return true;
  } catch (error) {
    return ConnectError.from(error).code !== Code.Unimplemented;
  }
}

describe.each(rpcServices.map(({ name }) => [name] as const))('the fields of requests to %s', (name) => {
  const rest = () => restApi(system.findPorts(name).http, issueToken);
  const rpc = () => rpcApi(transports.get(name) as ReturnType<typeof createGrpcTransport>, issueToken);
  /** Each served method with the APIs that have it. */
  const methods = (): [DescMethod, Api[]][] =>
    (served.get(name) ?? []).map((method) => [method, readRestRule(method) ? [rest(), rpc()] : [rpc()]]);

  function issueToken(method: DescMethod): Promise<string> {
    const [caller] = serviceCallers(method);
    return caller === undefined
      ? system.identity.internalToken(name, admin)
      : system.identity.internalToken(name, serviceCaller(caller), caller);
  }

  // guarantee: I38
  // asvs: 1.3.3
  test('that become a header of a mail are refused with a line break or NUL, and not with a tab', async () => {
    for (const [method, apis] of methods()) {
      for (const path of pathsTo(method.input, (field) => readFieldRules(field).headerText)) {
        for (const api of apis) {
          const pointer = api.toPointer(method, toSteps(path));
          const where = `${method.toString()} over ${api.name}, ${pointer}`;
          for (const text of ['a\rb', 'a\nb', 'a\r\nb', 'a\0b', '\n', 'a\u0085b', 'a\u2028b']) {
            const response = await api.send(method, nested(path, text));
            expect(isRefused(response, pointer, ['invalid_format']), `${where}: ${JSON.stringify(text)}`).toBe(true);
          }
          const allowed = await api.send(method, nested(path, 'a\tb'));
          expect(
            allowed.violations.filter(({ pointer: at }) => at === pointer),
            where,
          ).toEqual([]);
        }
      }
    }
  });

  // spec: 30.3, 32.2
  // guarantee: B3
  // asvs: 2.2.1
  test('limit a page: the maximum is accepted, and one more is refused', async () => {
    for (const [method, apis] of methods()) {
      const limit = method.input.fields.find((field) => field.name === 'limit');
      if (!limit) continue;
      const { maximum } = readFieldRules(limit);
      expect(maximum, `${method.toString()} has a maximum`).toBeDefined();
      for (const api of apis) {
        const pointer = api.toPointer(method, ['limit']);
        const where = `${method.toString()} over ${api.name}`;
        const request = { ...listIds(method, api), ...smallestRequest(method.input, api) };
        const send = (value: number) => api.send(method, { ...request, limit: value });
        expect(isRefused(await send(Number(maximum) + 1), pointer, ['out_of_range']), where).toBe(true);
        const allowed = await send(Number(maximum));
        expect(
          allowed.violations.filter(({ pointer: at }) => at === pointer),
          where,
        ).toEqual([]);
      }
    }
  });

  // guarantee: B9
  test('with an Idempotency-Key have the same response each time', async () => {
    // Methods without an id in their path come first: they create what the others change.
    const writes = methods()
      .filter(([method]) => takesIdempotencyKey(method))
      .sort(([left], [right]) => Number(isWithId(left)) - Number(isWithId(right)));
    let replayed = 0;
    for (const [method, apis] of writes) {
      for (const api of apis) {
        const where = `${method.toString()} over ${api.name}`;
        const request = (choice: number) => ({
          ...listIds(method, api),
          ...smallestRequest(method.input, api, choice),
        });
        const tooLong = await api.send(method, request(0), { 'idempotency-key': 'x'.repeat(256) });
        expect(tooLong.reason, where).toBe('invalid_idempotency_key');
        let successes = 0;
        for (let choice = 0; choice < 2 && successes === 0; choice++) {
          const headers = { 'idempotency-key': randomUUID() };
          const first = await api.send(method, request(choice), headers);
          const again = await api.send(method, request(choice), headers);
          if (first.reason === undefined) successes += 1;
          const isReplayed = first.reason === undefined;
          const body = isReplayed ? replayedBody(method, first.body) : first.body;
          expect(again, where).toEqual({ ...first, body, isReplayed });
        }
        replayed += successes;
      }
    }
    // Otherwise no response was ever stored.
    if (writes.length > 0) expect(replayed).toBeGreaterThan(0);
  });
});

const isWithId = (method: DescMethod) => readRestRule(method)?.path.includes('{') ?? false;

/** Values for the fields that are in the path of the route. */
function listIds(method: DescMethod, { name }: Api): JsonObject {
  if (name === 'REST') return {};
  const ids = method.input.fields.filter((field) => readRestRule(method)?.path.includes(`{${field.name}}`));
  return Object.fromEntries(ids.map((field) => [field.jsonName, idFor(field)]));
}
