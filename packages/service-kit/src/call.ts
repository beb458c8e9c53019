import type { DescMethod, DescMethodUnary, Message } from '@bufbuild/protobuf';
import { type ConnectRouter, createContextKey, type Interceptor } from '@connectrpc/connect';
import { invalidInput } from '@ticketing/rest/domain-error.ts';
import { toConnectError, toDomainError } from '@ticketing/rest/problem.ts';
import type { Served } from '@ticketing/rest/rest-face.ts';
import { messageValidator } from '@ticketing/rest/rules.ts';
import type { FastifyRequest } from 'fastify';
import { checkAccess } from './access.ts';
import type { Authenticator } from './authenticate.ts';
import { type Caller, serviceCaller } from './caller.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { continueTrace, type Trace } from './trace.ts';

/** What a handler knows of the request it serves, on either face. */
export interface Call {
  caller: Caller;
  trace: Trace;
  log: Logger;
  /** Aborted when the client has gone away or the deadline has passed. */
  signal: AbortSignal;
  /** A header of the request, by its lower-case name. */
  header(name: string): string | undefined;
}

const deadlineMs = 30_000;
const nobody = serviceCaller('nobody');
const callKey = createContextKey<Call | undefined>(undefined, { description: 'the call being served' });
const traces = new WeakMap<FastifyRequest, Trace>();

/** The call that a REST request makes. Without a caller it serves to answer an error only. */
export function beginCall(request: FastifyRequest, log: Logger, caller: Caller = nobody): Call {
  const header = (name: string) => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
  const trace = traces.get(request) ?? continueTrace(header('traceparent'));
  traces.set(request, trace);
  let signal: AbortSignal | undefined;
  return {
    caller,
    trace,
    header,
    get log() {
      return log.child({ traceId: trace.traceId });
    },
    get signal() {
      signal ??= AbortSignal.any([AbortSignal.timeout(deadlineMs), request.signal]);
      return signal;
    },
  };
}

/** What the RPC faces need to authorise, check and report a call. */
export interface CallOptions {
  authenticator: Authenticator;
  log: Logger;
  metrics: Metrics;
  /** Told of every caller that was verified. */
  onCaller?: (caller: Caller) => void;
}

/**
 * Authorises, validates, measures and logs every RPC; what is thrown becomes an error of the one table.
 *
 * The standard services (`grpc.health`, `grpc.reflection`) pass without a credential.
 */
export function callInterceptor(options: CallOptions): Interceptor {
  return (next) => async (request) => {
    if (request.service.typeName.startsWith('grpc.')) return next(request);
    const startedAt = performance.now();
    const trace = continueTrace(request.header.get('traceparent') ?? undefined);
    const log = options.log.child({ traceId: trace.traceId });
    let status = 'ok';
    try {
      const caller = await options.authenticator.rpc(request.header.get('authorization') ?? undefined);
      checkAccess(request.method, caller);
      options.onCaller?.(caller);
      if (!request.stream) demandValid(request.method, request.message);
      request.contextValues.set(callKey, {
        caller,
        trace,
        log,
        signal: request.signal,
        header: (name) => request.header.get(name) ?? undefined,
      });
      return await next(request);
    } catch (thrown) {
      const error = toDomainError(thrown);
      status = error.code;
      if (error.code === 'internal') log.error({ err: error.cause, rpc: request.method.toString() }, 'internal error');
      throw toConnectError(error);
    } finally {
      const seconds = (performance.now() - startedAt) / 1000;
      options.metrics.observeRequest({ face: 'rpc', route: request.method.toString(), status, seconds });
    }
  };
}

function demandValid(method: DescMethod, message: Message): void {
  const violations = messageValidator(method.input)(message);
  if (violations.length > 0) throw invalidInput(violations);
}

/** Routes the RPCs of services to their handlers. */
export function callRoutes(served: readonly Served<Call>[]): (router: ConnectRouter) => void {
  return (router) => {
    for (const { handlers } of served) {
      for (const [method, handler] of handlers) {
        router.rpc(method as DescMethodUnary, (message, context) => {
          const call = context.values.get(callKey);
          if (!call) throw new Error(`${method.toString()} was not authorised`);
          return handler(call, message);
        });
      }
    }
  };
}
