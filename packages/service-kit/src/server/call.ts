import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, Message } from '@bufbuild/protobuf';
import { type ConnectRouter, createContextKey, type Interceptor } from '@connectrpc/connect';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { toConnectError } from '@ticketing/errors/error-table.ts';
import { toDomainError, translateUpstreamErrors } from '@ticketing/errors/translate-error.ts';
import { maxBodyBytesOf } from '@ticketing/rest/options.ts';
import { toProblem } from '@ticketing/rest/problem.ts';
import type { ServiceImplementation } from '@ticketing/rest/rest-api.ts';
import { messageValidator } from '@ticketing/rest/rules.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { continueTrace, type Trace } from '@ticketing/runtime/trace.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkAccess } from '../identity/access.ts';
import type { Authenticator } from '../identity/authenticator.ts';
import type { Caller } from '../identity/caller.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { IdempotentRequest } from './idempotent-request.ts';

/** What a handler knows of the request it serves, on either face. */
export interface Call {
  caller: Caller;
  trace: Trace;
  log: Logger;
  /** Aborted when the client has gone away or the deadline has passed. */
  signal: AbortSignal;
  /** A header of the request, by its lower-case name. */
  header(name: string): string | undefined;
  /** Sets a header of the answer, by its lower-case name. */
  setResponseHeader(name: string, value: string): void;
  /** The request, if it may come more than once and says so by a key. */
  idempotency?: IdempotentRequest;
}

const deadlineMs = 30_000;
const callKey = createContextKey<Call | undefined>(undefined, { description: 'the call being served' });
const traces = new WeakMap<FastifyRequest, Trace>();

/** The trace that a REST request belongs to. */
export function traceOf(request: FastifyRequest): Trace {
  const trace = traces.get(request) ?? continueTrace(headerOf(request, 'traceparent'));
  traces.set(request, trace);
  return trace;
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** The call that a REST request makes. */
export function restCall(request: FastifyRequest, reply: FastifyReply, log: Logger, caller: Caller): Call {
  const trace = traceOf(request);
  let signal: AbortSignal | undefined;
  return {
    caller,
    trace,
    header: (name) => headerOf(request, name),
    setResponseHeader: (name, value) => void reply.header(name, value),
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
export interface RpcOptions {
  authenticator: Authenticator;
  log: Logger;
  metrics: Metrics;
  /** Told of every caller that was verified. */
  onCaller?: ((caller: Caller) => void) | undefined;
}

/**
 * Authorises, validates, measures and logs every RPC; what is thrown becomes an error of the one table.
 *
 * The standard services (`grpc.health`, `grpc.reflection`) pass without a credential.
 */
export function rpcInterceptor(options: RpcOptions): Interceptor {
  return (next) => async (request) => {
    if (request.service.typeName.startsWith('grpc.')) return next(request);
    const startedAt = performance.now();
    const trace = continueTrace(request.header.get('traceparent') ?? undefined);
    const log = options.log.child({ traceId: trace.traceId });
    let status = 'ok';
    const answerHeaders = new Map<string, string>();
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(tooLate()), deadlineMs);
    request.signal.addEventListener('abort', () => ending.abort(goneAway()), { once: true });
    try {
      const caller = await options.authenticator.rpc(request.header.get('authorization') ?? undefined);
      checkAccess(request.method, caller);
      options.onCaller?.(caller);
      if (!request.stream) requireValid(request.method, request.message);
      const { signal } = ending;
      request.contextValues.set(callKey, {
        caller,
        trace,
        log,
        signal,
        header: (name) => request.header.get(name) ?? undefined,
        setResponseHeader: (name, value) => answerHeaders.set(name, value),
      });
      const response = await unlessAborted(next(request), signal);
      for (const [name, value] of answerHeaders) response.header.set(name, value);
      return response;
    } catch (thrown) {
      const error = toDomainError(thrown);
      status = error.code;
      reportServerError(error, toProblem(error, { instance: '', traceId: '' }).status, log);
      throw toConnectError(error);
    } finally {
      clearTimeout(timer);
      const seconds = (performance.now() - startedAt) / 1000;
      options.metrics.observeRequest({ api: 'rpc', route: request.method.toString(), status, seconds });
    }
  };
}

const tooLate = () => new DomainError('deadline_exceeded', 'deadline_exceeded', 'The call took too long.');
const goneAway = () => new DomainError('canceled', 'canceled', 'The client has gone away.');

/** Ends a call when it is aborted, whatever its handler still does. */
function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, aborted]);
}

/** Logs an error that is not the client's, once, with its cause: what failed here is an error, what is away a warning. */
export function reportServerError(error: DomainError, status: number, log: Logger): void {
  if (status < 500) return;
  const fields = { err: error.cause ?? error, reason: error.reason };
  if (status === 500) log.error(fields, 'internal error');
  else log.warn(fields, error.message);
}

function requireValid(method: DescMethod, message: Message): void {
  const violations = messageValidator(method.input)(message);
  if (violations.length > 0) throw invalidInput(violations);
}

async function* partsOf(
  method: DescMethod,
  request: Message,
  call: Call,
  handle: () => AsyncIterable<Message>,
): AsyncGenerator<Message> {
  try {
    requireValid(method, request);
    yield* handle();
  } catch (thrown) {
    const error = toDomainError(thrown);
    reportServerError(error, toProblem(error, { instance: '', traceId: '' }).status, call.log);
    throw toConnectError(error);
  }
}

/** Routes the RPCs of services to their handlers. */
export function rpcRoutes(served: readonly ServiceImplementation<Call>[]): (router: ConnectRouter) => void {
  return (router) => {
    for (const { handlers, streams } of served) {
      for (const [method, handler] of streams) {
        router.rpc(method as DescMethodServerStreaming, (message, context) => {
          const call = context.values.get(callKey);
          if (!call) throw new Error(`${method.toString()} was not authorised`);
          return partsOf(method, message, call, () => handler(call, message));
        });
      }
      for (const [method, handler] of handlers) {
        router.rpc(
          method as DescMethodUnary,
          (message, context) => {
            const call = context.values.get(callKey);
            if (!call) throw new Error(`${method.toString()} was not authorised`);
            return translateUpstreamErrors(() => handler(call, message));
          },
          { readMaxBytes: maxBodyBytesOf(method) },
        );
      }
    }
  };
}
