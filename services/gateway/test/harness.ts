import { mergeOpenApi, openApiDocument } from '@ticketing/rest/openapi.ts';
import { type ResponseCheck, responseChecker } from '@ticketing/testkit/response-check.ts';
import { type TestIdentity, testIdentity } from '@ticketing/testkit/test-identity.ts';
import { type RunningGateway, startGateway } from '../src/service.ts';
import { sessionDocument } from '../src/session-operations.ts';
import { upstreamContracts } from '../src/upstreams.ts';
import { type HttpAnswer, type HttpCall, send } from './http-client.ts';
import { type StubService, startStub, stubHeader } from './stub-service.ts';

/** A gateway in front of a stub of the tickets service. */
export interface GatewayHarness {
  gateway: RunningGateway;
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

/** Starts both; variables are given without their prefix. */
export async function startHarness(
  variables: Record<string, string> = {},
  now: () => number = Date.now,
): Promise<GatewayHarness> {
  const identity = testIdentity();
  const stub = await startStub();
  const given = Object.entries(variables).map(([name, value]) => [`TICKETING_GATEWAY_${name}`, value]);
  const gateway = await startGateway(
    {
      ...identity.environment('gateway'),
      TICKETING_GATEWAY_TICKETS_URL: stub.url,
      TICKETING_GATEWAY_REPORTING_URL: 'http://127.0.0.1:1',
      ...Object.fromEntries(given),
    },
    now,
  );
  const bearer = `Bearer ${await identity.issuerToken()}`;
  const callBare: GatewayHarness['callBare'] = async (method, path, call = {}) => {
    const answer = await send(gateway.port, method, path, call);
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
  const served = upstreamContracts.flatMap(({ services }) =>
    services.map((service) => ({ service, handlers: new Map(service.methods.map((method) => [method, null])) })),
  );
  const info = { title: 'Ticketing API', version: '1' };
  return mergeOpenApi([sessionDocument(), openApiDocument({ ...info, served })], info);
}
