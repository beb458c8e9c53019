import { mergeOpenApi, openApiDocument } from '@ticketing/rest/openapi.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { RunningService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { serviceNamed, variableOf } from '@ticketing/system/services.ts';
import { type ResponseCheck, responseChecker } from '@ticketing/testkit/response-check.ts';
import { serviceVariables } from '@ticketing/testkit/service-variables.ts';
import { type TestIdentity, testIdentity } from '@ticketing/testkit/test-identity.ts';
import { service } from '../src/service.ts';
import { sessionDocument } from '../src/session-operations.ts';
import { upstreams } from '../src/upstreams.ts';
import { type HttpAnswer, type HttpCall, send } from './http-client.ts';
import { type StubService, startStub, stubHeader } from './stub-service.ts';

/** A gateway in front of a stub of the services behind it. */
export interface GatewayHarness {
  gateway: RunningService;
  identity: TestIdentity;
  stub: StubService;
  /** Calls with a bearer token of an ordinary user, unless the headers say otherwise. */
  call(method: string, path: string, call?: HttpCall): Promise<HttpAnswer>;
  /** Calls with exactly these headers. */
  callBare(method: string, path: string, call?: HttpCall): Promise<HttpAnswer>;
  /** The `Authorization` of an ordinary user. */
  bearer: string;
  stop(): Promise<void>;
}

/** The variables of a gateway whose services all listen on one port. */
export function gatewayVariables(identity: TestIdentity, upstreamPort: number): Record<string, string> {
  return serviceVariables(serviceNamed('gateway'), {
    keys: identity.keys,
    logLevel: process.env.TICKETING_TEST_LOG_LEVEL ?? 'silent',
    ports: { http: 0, grpc: 0, internal: 0 },
    calledPorts: () => ({ http: upstreamPort, grpc: 0, internal: 0 }),
    mongodbUri: '',
    bus: { kind: 'log', mongodbUri: '' },
  });
}

/** Starts both; variables are given without their prefix. Only tickets is there, as the stub. */
export async function startHarness(
  variables: Record<string, string> = {},
  now: () => number = Date.now,
): Promise<GatewayHarness> {
  const identity = testIdentity();
  const stub = await startStub();
  const given = Object.entries(variables).map(([name, value]) => [variableOf('gateway', name), value]);
  const environment = {
    ...gatewayVariables(identity, 1),
    [variableOf('gateway', 'TICKETS_URL')]: stub.url,
    ...Object.fromEntries(given),
  };
  const gateway = await service.start(environment, { runtime: { ...systemRuntime, now } });
  const bearer = `Bearer ${await identity.issuerToken()}`;
  const callBare: GatewayHarness['callBare'] = async (method, path, call = {}) => {
    const answer = await send(gateway.ports.http, method, path, call);
    checkOwnResponse(method, path, answer);
    return answer;
  };
  return {
    gateway,
    identity,
    stub,
    bearer,
    callBare,
    call: (method, path, call = {}) =>
      callBare(method, path, { ...call, headers: { authorization: bearer, ...call.headers } }),
    async stop() {
      await gateway.stop();
      await stub.close();
      identity.remove();
    },
  };
}

let check: ResponseCheck | undefined;

/** Checks what the gateway itself responds with against the OpenAPI document; the stub may say anything. */
function checkOwnResponse(method: string, path: string, { status, headers, body }: HttpAnswer): void {
  if (stubHeader in headers) return;
  check ??= responseChecker(wholeDocument());
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, [value].flat().join(', ')]);
  check({ method, path, status, headers: new Headers(fields), body });
}

/** The document of the gateway in front of services that are all seen. */
function wholeDocument() {
  const served = upstreams.flatMap(({ contracts }) =>
    contracts.map((service) => ({ service, handlers: new Map(service.methods.map((method) => [method, null])) })),
  );
  const info = { title: 'Ticketing API', version: '1' };
  return mergeOpenApi([sessionDocument(), openApiDocument({ ...info, served })], info);
}
