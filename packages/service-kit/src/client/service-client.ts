import type { DescService } from '@bufbuild/protobuf';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { continueTrace, traceparentOf } from '@ticketing/runtime/trace.ts';
import type { InternalTokens } from '../identity/internal-token.ts';
import type { Call } from '../server/call.ts';

/** How another service is called. */
export interface ServiceClientOptions {
  /** The name of the called service, which is the audience of the tokens. */
  audience: string;
  /** The transport to that service, which has a default deadline for calls. */
  transport: Transport;
  /** Mints the tokens of the calling service. */
  tokens: InternalTokens;
}

/** The call on whose behalf another service is called. Without a caller, the service calls on its own behalf. */
export type OnBehalfOf = Pick<Call, 'trace' | 'signal'> & Partial<Pick<Call, 'caller'>>;

/**
 * Makes clients of another service. A client for a call acts on behalf of its caller, belongs to its trace, and is aborted
 * with it. A client without a call acts on behalf of the calling service, with a trace of its own.
 *
 * Errors: those of the called service, as ConnectError. If a handler does not catch one, its own response is an error for
 * a dependency that is unavailable, was too slow, or has failed.
 * Source: docs/reference/api.md, Service-to-service calls; docs/reference/architecture.md, Service-to-service calls.
 */
export function serviceClient<Service extends DescService>(
  service: Service,
  { audience, transport, tokens }: ServiceClientOptions,
): (call?: OnBehalfOf) => Client<Service> {
  return (call) => {
    const trace = call?.trace ?? continueTrace(undefined);
    const headersOf = async (init: HeadersInit | undefined) => {
      const headers = new Headers(init);
      headers.set('authorization', `Bearer ${await tokens.mint(audience, call?.caller)}`);
      headers.set('traceparent', traceparentOf(trace));
      return headers;
    };
    const signalOf = (signal: AbortSignal | undefined) =>
      signal && call ? AbortSignal.any([signal, call.signal]) : (signal ?? call?.signal);
    return createClient(service, {
      unary: async (method, signal, timeoutMs, header, message, values) =>
        transport.unary(method, signalOf(signal), timeoutMs, await headersOf(header), message, values),
      stream: async (method, signal, timeoutMs, header, messages, values) =>
        transport.stream(method, signalOf(signal), timeoutMs, await headersOf(header), messages, values),
    });
  };
}
