import type { ServerHttp2Stream } from 'node:http2';
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { type ContextValues, createContextKey, createContextValues } from '@connectrpc/connect';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { toDomainError } from '@ticketing/errors/translate-error.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type CallerLimits, tooManyAtOnce } from '../admission/caller-limits.ts';
import { concurrencyLimiter } from '../admission/concurrency-limiter.ts';
import { checkAccess } from '../identity/access.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { Caller } from '../identity/caller.ts';
import type { Metrics } from '../observability/metrics.ts';
import { sendRpcError } from './send-rpc-error.ts';
import type { ServerLimits } from './server-limits.ts';

/** What the guard decides by. */
export interface RpcGuardOptions {
  /** The contracts that the server serves, those of gRPC itself included. */
  contracts: readonly DescService[];
  authenticator: Authenticator;
  callerLimits: CallerLimits;
  limits: ServerLimits;
  metrics: Metrics;
}

const callerKey = createContextKey<Caller | undefined>(undefined, { description: 'the caller that was admitted' });

/** The caller that the guard has admitted. Errors: an internal error for a call that it has not seen. */
export function admittedCaller(values: ContextValues): Caller {
  const caller = values.get(callerKey);
  if (!caller) throw new Error('the call was not admitted');
  return caller;
}

/** Whether a contract is one of gRPC itself, which needs no credential: health and reflection. */
export function isStandardService({ typeName }: DescService): boolean {
  return typeName.startsWith('grpc.');
}

/**
 * Admits RPCs before their bodies are read, on a server of any protocol: the interceptors of Connect run only after the
 * message has been parsed. The method is the one that the router has matched, so that the spelling of the path does not
 * matter. Callers with an access token of the issuer have rate and in-flight limits; those of internal tokens were limited
 * where they entered.
 *
 * Returns the option `contextValues` of Connect, by which `admittedCaller` finds the caller.
 * Shape: a refusal is written as the protocol of the request demands, and ends the request without reading the rest.
 */
export function guardRpcs(app: FastifyInstance, options: RpcGuardOptions): (request: FastifyRequest) => ContextValues {
  const { authenticator, callerLimits, limits, metrics } = options;
  const methods = methodsByPath(options.contracts);
  const callers = new WeakMap<FastifyRequest, Caller>();
  const anonymousCalls = concurrencyLimiter();

  function admitAnonymous(method: DescMethod, { raw }: FastifyRequest, reply: FastifyReply): void {
    const end = anonymousCalls.acquire(method.toString(), limits.anonymousCalls);
    if (!end) throw tooManyAtOnce('Too many calls of this method are in flight.');
    reply.raw.once('close', end);
    if (method.methodKind !== 'bidi_streaming') return;
    const timer = setTimeout(() => endStream(raw), limits.bodyMs);
    reply.raw.once('close', () => clearTimeout(timer));
  }

  async function admit(method: DescMethod, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (isStandardService(method.parent)) return admitAnonymous(method, request, reply);
    const { caller, isInternal } = await authenticator.rpc(request.headers.authorization);
    checkAccess(method, caller);
    if (!isInternal)
      reply.raw.once(
        'close',
        callerLimits.begin(caller, (name, value) => reply.header(name, value)),
      );
    callers.set(request, caller);
    refuseCompressedUrl(request);
  }

  app.addHook('onRequest', async (request, reply) => {
    const method = methods.get(request.routeOptions.url ?? '');
    if (!method) return undefined;
    endUploadAfterResponse(request);
    try {
      await admit(method, request, reply);
      return undefined;
    } catch (thrown) {
      const error = toDomainError(thrown);
      const seconds = reply.elapsedTime / 1000;
      metrics.observeRequest({ api: 'rpc', route: method.toString(), status: error.code, seconds });
      return sendRpcError(error, request, reply);
    }
  });
  return (request) => createContextValues().set(callerKey, callers.get(request));
}

function methodsByPath(contracts: readonly DescService[]): Map<string, DescMethod> {
  return new Map(
    contracts.flatMap(({ typeName, methods }) =>
      methods.map((method): [string, DescMethod] => [`/${typeName}/${method.name}`, method]),
    ),
  );
}

/** A GET has its message in the URL, whose length is limited; compressed, a short URL could hold a large message. */
function refuseCompressedUrl({ method, query }: FastifyRequest): void {
  const { compression = '' } = query as { compression?: unknown };
  if (method !== 'GET' || compression === '' || compression === 'identity') return;
  throw new DomainError('unimplemented', 'unsupported_compression', 'A message in a URL may not be compressed.');
}

/**
 * Ends an HTTP/2 stream when its response is complete, even if its body is still arriving; Node would leave it open for as
 * long as the client likes. Over HTTP/1.1 the server's `requestTimeout` ends the connection.
 */
function endUploadAfterResponse({ raw }: FastifyRequest): void {
  if (!('stream' in raw)) return;
  const stream = raw.stream as ServerHttp2Stream;
  // Every response of gRPC ends with trailers, which the listener of the response sends first.
  stream.once('wantTrailers', () => setImmediate(() => endStream(raw)));
}

function endStream(raw: FastifyRequest['raw']): void {
  if ('stream' in raw) (raw.stream as ServerHttp2Stream).close();
}
