import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { type ContextValues, createContextValues, type Interceptor, type Transport } from '@connectrpc/connect';
import { runStreamingCall, runUnaryCall } from '@connectrpc/connect/protocol';
import { type ChannelOptions, Client } from '@grpc/grpc-js';
import type { ServiceTls } from '../tls/service-tls.ts';
import { callStream, callUnary, methodPath } from './grpc-call.ts';
import { grpcCredentials } from './grpc-credentials.ts';
import { retryMethodConfig } from './grpc-retry.ts';

/** The addresses of a service, and how it is called. */
export interface GrpcTransportOptions {
  /** The addresses, as gRPC names them: `dns:///tickets:9090`, `ipv4:10.0.0.1:9090,10.0.0.2:9090`. */
  target: string;
  /** The deadline of calls that set none. A call that sets 0, such as a watch, has no deadline. */
  defaultTimeoutMs: number;
  /** The contracts of the services that are called. The idempotency level of a method allows its calls to be repeated. */
  services: readonly DescService[];
  /** The TLS of the calling service; calls are made without TLS if it has none, or names no authorities. */
  tls?: ServiceTls;
  /** The interceptors of every call; the last one is the innermost. */
  interceptors?: Interceptor[];
  /** The largest response message that is accepted; 4 MiB if undefined. */
  readMaxBytes?: number;
}

/** A transport whose connections stay open until it is closed. */
export interface GrpcTransport extends Transport {
  /** Closes the connections when the calls in flight have ended; later calls fail. */
  close(): void;
}

/**
 * Creates a transport that makes the calls of Connect clients over a channel of grpc-js. The channel balances calls over
 * all addresses of the target, pings its connections also between calls, reconnects, and resolves the addresses again when
 * a connection closes.
 *
 * All kinds of methods work. To cancel a stream, abort the signal of its call; a `break` out of the loop over its messages
 * does not cancel it.
 * Retries: a call that no server has begun to process is always repeated. If the contract gives the method an
 * `idempotency_level`, a call is also repeated when its server is unavailable or its connection breaks: twice before the
 * headers of the response, and once after them if the method is unary.
 * Errors: ConnectError with the details and metadata that the server sent; `unavailable` if none can be reached.
 */
export function createGrpcTransport(options: GrpcTransportOptions): GrpcTransport {
  const client = new Client(options.target, grpcCredentials(options.tls), channelOptions(options));
  const { interceptors = [] } = options;

  return {
    unary(method, signal, timeoutMs, header, message, contextValues) {
      const { deadline, ...limits } = callLimits(timeoutMs ?? options.defaultTimeoutMs, signal);
      const req = {
        ...callContext(options.target, method, header, contextValues),
        stream: false as const,
        method,
        message,
      };
      return runUnaryCall({
        ...limits,
        interceptors,
        req,
        next: (intercepted) => callUnary(client, intercepted, deadline),
      });
    },
    stream(method, signal, timeoutMs, header, message, contextValues) {
      const { deadline, ...limits } = callLimits(timeoutMs ?? options.defaultTimeoutMs, signal);
      const req = {
        ...callContext(options.target, method, header, contextValues),
        stream: true as const,
        method,
        message,
      };
      return runStreamingCall({
        ...limits,
        interceptors,
        req,
        next: (intercepted) => callStream(client, intercepted, deadline),
      });
    },
    close: () => client.close(),
  };
}

function channelOptions(options: GrpcTransportOptions): ChannelOptions {
  return {
    'grpc.service_config': JSON.stringify({
      loadBalancingConfig: [{ round_robin: {} }],
      methodConfig: retryMethodConfig(options.services),
    }),
    'grpc.service_config_disable_resolution': 1,
    // A server that vanishes without closing its connections is noticed within 15 s, even if no call waits for it.
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 5_000,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.initial_reconnect_backoff_ms': 200,
    'grpc.max_reconnect_backoff_ms': 5_000,
    'grpc.dns_min_time_between_resolutions_ms': 1_000,
    'grpc.use_local_subchannel_pool': 1,
    // Repeats calls that a closing connection has refused. This alone never repeats a call that a server has processed.
    'grpc.enable_retries': 1,
    ...(options.readMaxBytes !== undefined && { 'grpc.max_receive_message_length': options.readMaxBytes }),
  };
}

function callLimits(timeoutMs: number, signal: AbortSignal | undefined) {
  const isLimited = timeoutMs > 0;
  const deadline = isLimited ? Date.now() + timeoutMs : Number.POSITIVE_INFINITY;
  return { deadline, ...(isLimited && { timeoutMs }), ...(signal && { signal }) };
}

function callContext(target: string, method: DescMethod, header?: HeadersInit, contextValues?: ContextValues) {
  return {
    service: method.parent,
    requestMethod: 'POST',
    url: target + methodPath(method),
    header: new Headers(header),
    contextValues: contextValues ?? createContextValues(),
  };
}
