import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { readAccessRule } from '@ticketing/rest/codec/options.ts';
import { childTrace, continueTrace, renderTraceparent, type Trace } from '@ticketing/runtime/trace.ts';
import type { Tracer } from '@ticketing/runtime/tracer.ts';
import type { Call } from '../call/call.ts';
import type { InternalTokens } from '../identity/internal-token.ts';
import { rpcAttributes, rpcName } from '../observability/span-names.ts';

/** How another service is called. */
export interface ServiceClientOptions {
  /** The name of the called service, which is the audience of the tokens. */
  audience: string;
  /** The transport to that service, which has a default deadline for calls. */
  transport: Transport;
  /** Mints the tokens of the calling service. */
  tokens: InternalTokens;
  /** Whether calls are made on behalf of callers; the called service accepts no caller otherwise. */
  forwardsCallers: boolean;
  /** Records a span of each call. */
  tracer?: Tracer | undefined;
}

/** The call on whose behalf another service is called. Without a caller, the service calls on its own behalf. */
export type OnBehalfOf = Pick<Call, 'trace' | 'signal'> & Partial<Pick<Call, 'caller'>>;

/**
 * Makes clients of another service. A client for a call acts on behalf of its caller, belongs to its trace, and is aborted
 * with it. A client without a call, and a method that only services may call, act on behalf of the calling service, and so
 * does every client of a service to which no callers are forwarded.
 *
 * Errors: those of the called service, as ConnectError. If a handler does not catch one, its own response is an error for
 * a dependency that is unavailable, was too slow, or has failed.
 * Source: docs/reference/api.md, Service-to-service calls; docs/reference/architecture.md, Service-to-service calls.
 */
export function serviceClient<Service extends DescService>(
  service: Service,
  { audience, transport, tokens, forwardsCallers, tracer }: ServiceClientOptions,
): (call?: OnBehalfOf) => Client<Service> {
  return (call) => {
    const callerTrace = call?.trace ?? tracer?.current() ?? continueTrace(undefined);
    const makeHeaders = async (method: DescMethod, init: HeadersInit | undefined, trace: Trace) => {
      const headers = new Headers(init);
      // Methods that only services may call are never called on behalf of a caller.
      const caller = forwardsCallers && readAccessRule(method)?.case !== 'service' ? call?.caller : undefined;
      headers.set('authorization', `Bearer ${await tokens.mint(audience, caller)}`);
      headers.set('traceparent', renderTraceparent(trace, tracer));
      return headers;
    };
    const joinSignals = (signal: AbortSignal | undefined) =>
      signal && call ? AbortSignal.any([signal, call.signal]) : (signal ?? call?.signal);
    return createClient(service, {
      unary: async (method, signal, timeoutMs, header, message, values) =>
        traced(tracer, callerTrace, method, async (trace) =>
          transport.unary(
            method,
            joinSignals(signal),
            timeoutMs,
            await makeHeaders(method, header, trace),
            message,
            values,
          ),
        ),
      stream: async (method, signal, timeoutMs, header, messages, values) =>
        traced(tracer, callerTrace, method, async (trace) =>
          transport.stream(
            method,
            joinSignals(signal),
            timeoutMs,
            await makeHeaders(method, header, trace),
            messages,
            values,
          ),
        ),
    });
  };
}

/** Makes a call, and records its span if there is a tracer. The span of a stream ends when the response begins. */
async function traced<Result>(
  tracer: Tracer | undefined,
  callerTrace: Trace,
  method: DescMethod,
  makeCall: (trace: Trace) => Promise<Result>,
): Promise<Result> {
  if (!tracer) return makeCall(callerTrace);
  const trace = childTrace(callerTrace);
  const startedAt = performance.now();
  let error: string | undefined;
  try {
    return await makeCall(trace);
  } catch (thrown) {
    error = thrown instanceof ConnectError ? Code[thrown.code] : 'unknown';
    throw thrown;
  } finally {
    const durationMs = performance.now() - startedAt;
    tracer.record({
      trace,
      name: rpcName(method),
      kind: 'client',
      durationMs,
      error,
      attributes: rpcAttributes(method),
    });
  }
}
