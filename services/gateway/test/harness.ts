import { mergeOpenApi, openApiDocument } from '@ticketing/rest/documents/openapi.ts';
import { type Runtime, systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { RunningService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { serviceNamed, variableName } from '@ticketing/system/services.ts';
import { type ResponseCheck, responseChecker } from '@ticketing/testkit/response-check.ts';
import { serviceVariables } from '@ticketing/testkit/service-variables.ts';
import { type TestIdentity, testIdentity } from '@ticketing/testkit/test-identity.ts';
import { sessionDocument } from '../src/page/session-openapi.ts';
import { upstreams } from '../src/request/upstreams.ts';
import { service } from '../src/service.ts';
import { type HttpRequest, type HttpResponse, send } from './http-client.ts';
import { type StubService, startStub, stubHeader } from './stub-service.ts';

/** A running gateway that forwards requests to a stub of the tickets service. */
export interface GatewayHarness {
  gateway: RunningService;
  identity: TestIdentity;
  stub: StubService;
  /** Sends a request with the bearer token of an ordinary user; `headers` may replace it. */
  call(method: string, path: string, call?: HttpRequest): Promise<HttpResponse>;
  /** Sends a request with exactly the given headers. */
  callBare(method: string, path: string, call?: HttpRequest): Promise<HttpResponse>;
  /** The `Authorization` header of an ordinary user. */
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

/** Starts a gateway and the stub. Variables are given without their prefix. The other services are unreachable. */
export async function startHarness(
  variables: Record<string, string> = {},
  clock: Partial<Pick<Runtime, 'now' | 'monotonicMs'>> = {},
): Promise<GatewayHarness> {
  const identity = testIdentity();
  const stub = await startStub();
  const given = Object.entries(variables).map(([name, value]) => [variableName('gateway', name), value]);
  const environment = {
    ...gatewayVariables(identity, 1),
    [variableName('gateway', 'TICKETS_URL')]: stub.url,
    ...Object.fromEntries(given),
  };
  const gateway = await service.start(environment, { runtime: { ...systemRuntime, ...clock } });
  const bearer = `Bearer ${await identity.issuerToken()}`;
  const callBare: GatewayHarness['callBare'] = async (method, path, call = {}) => {
    const response = await send(gateway.ports.http, method, path, call);
    checkOwnResponse(method, path, response);
    return response;
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

/** Checks responses of the gateway itself against the OpenAPI document; the stub may respond with anything. */
function checkOwnResponse(method: string, path: string, { status, headers, body }: HttpResponse): void {
  if (stubHeader in headers) return;
  check ??= responseChecker(wholeDocument());
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, [value].flat().join(', ')]);
  check({ method, path, status, headers: new Headers(fields), body });
}

/** Merges the OpenAPI document of the gateway with the documents of all services. */
function wholeDocument() {
  const served = upstreams.flatMap(({ contracts }) =>
    contracts.map((service) => ({ service, handlers: new Map(service.methods.map((method) => [method, null])) })),
  );
  const info = { title: 'Ticketing API', version: '1' };
  return mergeOpenApi([sessionDocument(), openApiDocument({ ...info, served })], info);
}
