import type { DescService } from '@bufbuild/protobuf';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { continueTrace, traceparentOf } from '@ticketing/runtime/trace.ts';
import type { InternalTokens } from '../identity/internal-token.ts';
import type { Call } from '../server/call.ts';

/** What another service is called with. */
export interface ServiceClientOptions {
  /** The name of the service that is called, which its internal tokens are for. */
  audience: string;
  /** A channel to that service; it sets the deadline of a call that has none of its own. */
  transport: Transport;
  /** The tokens of the service that calls. */
  tokens: InternalTokens;
}

/** On whose behalf a service is called: a call that is being served, as far as it goes; without a caller, its own. */
export type OnBehalfOf = Pick<Call, 'trace' | 'signal'> & Partial<Pick<Call, 'caller'>>;

/**
 * Makes the client of another service. A client for a call speaks for its caller, in its trace, and is aborted with it;
 * one without speaks for the service itself, in a trace of its own.
 *
 * Errors: those of the service called, as ConnectError; a handler that lets one through answers that a service it needs
 * is away, late, or has failed.
 * Source: decisions.md section 3; architecture.md section 5, services calling services.
 */
export function serviceClient<Service extends DescService>(
  service: Service,
  { audience, transport, tokens }: ServiceClientOptions,
): (call?: OnBehalfOf) => Client<Service> {
  return (call) => {
    const trace = call?.trace ?? continueTrace(undefined);
    const headersOf = async (given: HeadersInit | undefined) => {
      const headers = new Headers(given);
      headers.set('authorization', `Bearer ${await tokens.mint(audience, call?.caller)}`);
      headers.set('traceparent', traceparentOf(trace));
      return headers;
    };
    const signalOf = (given: AbortSignal | undefined) =>
      given && call ? AbortSignal.any([given, call.signal]) : (given ?? call?.signal);
    return createClient(service, {
      unary: async (method, signal, timeoutMs, header, message, values) =>
        transport.unary(method, signalOf(signal), timeoutMs, await headersOf(header), message, values),
      stream: async (method, signal, timeoutMs, header, messages, values) =>
        transport.stream(method, signalOf(signal), timeoutMs, await headersOf(header), messages, values),
    });
  };
}
