import { Code, ConnectError, type ContextValues, createContextKey, type Interceptor } from '@connectrpc/connect';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { toConnectError } from '@ticketing/errors/error-table.ts';
import { toDomainError } from '@ticketing/errors/translate-error.ts';
import type { Logger } from '@ticketing/runtime/logger.ts';
import { continueTrace } from '@ticketing/runtime/trace.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import { type Call, callDeadlineMs, clientGone, deadlineExceeded } from '../call/call.ts';
import type { Caller } from '../identity/caller.ts';
import type { Metrics } from '../observability/metrics.ts';
import { rpcAttributes, rpcName } from '../observability/span-names.ts';
import { reportRpcError } from './report-server-error.ts';
import { requireValid } from './require-valid.ts';
import { admitted, isStandardService } from './rpc-guard.ts';

/** The parts with which the RPC API measures and logs its calls. */
export interface RpcOptions {
  log: Logger;
  metrics: Metrics;
  tracer?: Tracer | undefined;
  /** Called with every verified caller. */
  onCaller?: ((caller: Caller) => void) | undefined;
}

const callKey = createContextKey<Call | undefined>(undefined, { description: 'the call that is being served' });

/** Returns the call of an RPC that passed the interceptor; undefined if it did not. */
export function findCall(values: ContextValues): Call | undefined {
  return values.get(callKey);
}

/** Validates, measures and logs every RPC that the guard has admitted, and translates what its handler throws. */
export function rpcInterceptor(options: RpcOptions): Interceptor {
  return (next) => async (request) => {
    if (isStandardService(request.service)) return next(request);
    const startedAt = performance.now();
    const trace = continueTrace(request.header.get('traceparent') ?? undefined);
    const log = options.log.child({ traceId: trace.traceId });
    let status = 'ok';
    const responseHeaders = new Map<string, string>();
    const whenEncoded: (() => void)[] = [];
    const aborting = new AbortController();
    const timer = setTimeout(() => aborting.abort(deadlineExceeded()), callDeadlineMs);
    whenAborted(request.signal, (reason) => aborting.abort(reasonOfAbort(reason)));
    try {
      const { caller, countAs, onEnd, endResponse } = admitted(request.contextValues);
      options.onCaller?.(caller);
      if (!request.stream) requireValid(request.method, request.message);
      const { signal } = aborting;
      request.contextValues.set(callKey, {
        caller,
        api: 'rpc',
        trace,
        log,
        signal,
        gone: request.signal,
        header: (name) => request.header.get(name) ?? undefined,
        setResponseHeader: (name, value) => responseHeaders.set(name, value),
        countAs,
        onEncoded: (done) => void whenEncoded.push(done),
        onEnd,
        endResponse,
      });
      const response = await rejectOnAbort(next(request), signal);
      for (const [name, value] of responseHeaders) response.header.set(name, value);
      // Connect encodes a message as soon as this has returned it, before anything else is done.
      if (!response.stream) for (const done of whenEncoded) setImmediate(done);
      return response;
    } catch (thrown) {
      const error = toDomainError(thrown);
      status = error.code;
      reportRpcError(error, log);
      throw toConnectError(error);
    } finally {
      clearTimeout(timer);
      const durationMs = performance.now() - startedAt;
      options.metrics.observeRequest({
        api: 'rpc',
        route: request.method.toString(),
        status,
        seconds: durationMs / 1000,
      });
      options.tracer?.record({
        trace,
        name: rpcName(request.method),
        kind: 'server',
        durationMs,
        error: status === 'ok' ? undefined : status,
        attributes: rpcAttributes(request.method),
      });
    }
  };
}

/** Settles like `work`, but rejects as soon as the signal aborts, even if the handler does not stop. */
function rejectOnAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = new Promise<never>((_, reject) => whenAborted(signal, reject));
  return Promise.race([work, aborted]);
}

/** Calls a function with the reason of a signal when it is aborted; at once if it is already. */
function whenAborted(signal: AbortSignal, act: (reason: unknown) => void): void {
  if (signal.aborted) act(signal.reason);
  else signal.addEventListener('abort', () => act(signal.reason), { once: true });
}

/** Why Connect has aborted a call: the deadline of its client has passed, the server is closed, or the client has gone. */
function reasonOfAbort(reason: unknown): DomainError {
  if (reason instanceof DomainError) return reason;
  return reason instanceof ConnectError && reason.code === Code.DeadlineExceeded ? deadlineExceeded() : clientGone();
}
