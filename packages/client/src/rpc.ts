import type { DescService } from '@bufbuild/protobuf';
import { type Client, ConnectError, createClient, type Interceptor, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { type Problem, ProblemSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';

/** How the RPC API of a service is reached. */
export interface RpcOptions {
  /** The base URL of the service, for example `http://tickets:8081`. Each service has its own. */
  baseUrl: string;
  /** The access token, or a function that returns a valid one; it is called before each call. */
  token: string | (() => string | Promise<string>);
  /** The deadline of calls that set none. */
  timeoutMs?: number;
}

/**
 * Makes a client of one contract, over the Connect protocol. For gRPC, use `createClient` of `@connectrpc/connect` with a
 * transport of `@connectrpc/connect-node` and `tokenInterceptor`.
 *
 * Errors of its calls: ConnectError; `rpcProblem` reads the problem in them.
 */
export function createRpcClient<Service extends DescService>(
  service: Service,
  { baseUrl, token, timeoutMs = 60_000 }: RpcOptions,
): Client<Service> {
  const transport: Transport = createConnectTransport({
    baseUrl,
    useBinaryFormat: true,
    defaultTimeoutMs: timeoutMs,
    interceptors: [tokenInterceptor(token)],
  });
  return createClient(service, transport);
}

/** Sends the access token with every call. */
export function tokenInterceptor(token: RpcOptions['token']): Interceptor {
  return (next) => async (request) => {
    request.header.set('authorization', `Bearer ${typeof token === 'string' ? token : await token()}`);
    return next(request);
  };
}

/** Returns the problem in an error of a call: its stable `reason` and the input's violations. Undefined if there is none. */
export function rpcProblem(error: unknown): Problem | undefined {
  return ConnectError.from(error).findDetails(ProblemSchema)[0];
}
