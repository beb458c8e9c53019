import { type EventEmitter, once } from 'node:events';
import {
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import {
  Code,
  ConnectError,
  type ContextValues,
  createContextValues,
  decodeBinaryHeader,
  encodeBinaryHeader,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
  type Transport,
  type UnaryRequest,
  type UnaryResponse,
} from '@connectrpc/connect';
import { runStreamingCall, runUnaryCall } from '@connectrpc/connect/protocol';
import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import {
  type ChannelOptions,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type StatusObject,
  status,
} from '@grpc/grpc-js';

/** Where a service is and how it is called. */
export interface GrpcTransportOptions {
  /** The addresses, as gRPC names them: `dns:///tickets:9090`, `ipv4:10.0.0.1:9090,10.0.0.2:9090`. */
  target: string;
  /** The deadline of a call that names none. A call that names 0 has none: a watch. */
  defaultTimeoutMs: number;
  /** The services to be called; the idempotency level of a method says whether a call may be repeated. */
  services: readonly DescService[];
  /** Wrap every call, the last one innermost. */
  interceptors?: Interceptor[];
  /** The largest answer to accept, per message; 4 MiB if not given. */
  readMaxBytes?: number;
}

/** A transport whose connections live until it is closed. */
export interface GrpcTransport extends Transport {
  /** Ends the connections once the calls in flight are answered; later calls fail. */
  close(): void;
}

/**
 * Carries the calls of Connect clients over a channel of grpc-js, which balances over all addresses of the target,
 * keeps its connections alive, reconnects, and asks for the addresses again when a connection closes.
 *
 * All kinds of methods work. `break` out of the answers of a stream does not cancel the call: abort a signal instead.
 * Retries: a call that no server has begun to process is repeated whatever the method. Where the contract gives the
 * method an `idempotency_level`, an unavailable server or a broken connection is tried again: twice before the headers of
 * the answer, and once after them if the method is unary.
 * Errors: ConnectError with the details and metadata that the server sent; `unavailable` if none can be reached.
 */
export function createGrpcTransport(options: GrpcTransportOptions): GrpcTransport {
  const client = new Client(options.target, credentials.createInsecure(), channelOptions(options));
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
      return runUnaryCall({ ...limits, interceptors, req, next: (sent) => callUnary(client, sent, deadline) });
    },
    stream(method, signal, timeoutMs, header, message, contextValues) {
      const { deadline, ...limits } = callLimits(timeoutMs ?? options.defaultTimeoutMs, signal);
      const req = {
        ...callContext(options.target, method, header, contextValues),
        stream: true as const,
        method,
        message,
      };
      return runStreamingCall({ ...limits, interceptors, req, next: (sent) => callStream(client, sent, deadline) });
    },
    close: () => client.close(),
  };
}

function channelOptions(options: GrpcTransportOptions): ChannelOptions {
  return {
    'grpc.service_config': JSON.stringify({
      loadBalancingConfig: [{ round_robin: {} }],
      methodConfig: retriedMethods(options.services),
    }),
    'grpc.service_config_disable_resolution': 1,
    'grpc.keepalive_time_ms': 20_000,
    'grpc.keepalive_timeout_ms': 5_000,
    'grpc.initial_reconnect_backoff_ms': 200,
    'grpc.max_reconnect_backoff_ms': 5_000,
    'grpc.dns_min_time_between_resolutions_ms': 1_000,
    'grpc.use_local_subchannel_pool': 1,
    // Without it, calls that a closing connection refuses fail; it repeats only what no server has processed.
    'grpc.enable_retries': 1,
    ...(options.readMaxBytes !== undefined && { 'grpc.max_receive_message_length': options.readMaxBytes }),
  };
}

function retriedMethods(services: readonly DescService[]): object[] {
  const name = services
    .flatMap((service) => service.methods)
    .filter(mayRepeat)
    .map((method) => ({ service: method.parent.typeName, method: method.name }));
  const retryPolicy = {
    maxAttempts: 3,
    initialBackoff: '0.05s',
    maxBackoff: '1s',
    backoffMultiplier: 4,
    retryableStatusCodes: ['UNAVAILABLE'],
  };
  return name.length === 0 ? [] : [{ name, retryPolicy }];
}

function mayRepeat(method: DescMethod): boolean {
  return method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
}

function callLimits(timeoutMs: number, signal: AbortSignal | undefined) {
  const limited = timeoutMs > 0;
  const deadline = limited ? Date.now() + timeoutMs : Number.POSITIVE_INFINITY;
  return { deadline, ...(limited && { timeoutMs }), ...(signal && { signal }) };
}

function callContext(target: string, method: DescMethod, header?: HeadersInit, contextValues?: ContextValues) {
  return {
    service: method.parent,
    requestMethod: 'POST',
    url: target + pathOf(method),
    header: new Headers(header),
    contextValues: contextValues ?? createContextValues(),
  };
}

async function callUnary<I extends DescMessage, O extends DescMessage>(
  client: Client,
  req: UnaryRequest<I, O>,
  deadline: number,
  repeated = false,
): Promise<UnaryResponse<I, O>> {
  req.signal.throwIfAborted();
  const { write, read } = codec(req.method);
  const metadata = toMetadata(req.header);
  let message: MessageShape<O> | undefined;
  const call = client.makeUnaryRequest(
    pathOf(req.method),
    write,
    read,
    req.message,
    metadata,
    { deadline },
    (_, value) => {
      message = value;
    },
  );
  const { header, trailer, ended } = follow(call, req.signal);
  try {
    await ended;
  } catch (error) {
    // grpc-js repeats nothing once headers have arrived, but a server can be killed between them and the message.
    const answering = header.has('content-type') && ConnectError.from(error).code === Code.Unavailable;
    if (!answering || repeated || !mayRepeat(req.method)) throw error;
    return callUnary(client, req, deadline, true);
  }
  if (message === undefined) throw new ConnectError('the answer has no message', Code.Unimplemented);
  return { stream: false, service: req.service, method: req.method, header, trailer, message };
}

async function callStream<I extends DescMessage, O extends DescMessage>(
  client: Client,
  req: StreamRequest<I, O>,
  deadline: number,
): Promise<StreamResponse<I, O>> {
  req.signal.throwIfAborted();
  const { write, read } = codec(req.method);
  // On the wire the other kinds of stream are this one with a single message on one side.
  const call = client.makeBidiStreamRequest(pathOf(req.method), write, read, toMetadata(req.header), { deadline });
  // `ended` carries the error; an error event without a listener ends the process.
  call.on('error', () => {});
  const { header, trailer, began, ended } = follow(call, req.signal);
  const sent = send(req.message, call, req.signal);
  // The server may end the call before everything is sent.
  const done = Promise.race([ended, sent.then(() => ended)]);
  await Promise.race([began, done]);
  return { stream: true, service: req.service, method: req.method, header, trailer, message: receive(call, done) };
}

async function send<T>(messages: AsyncIterable<T>, call: ClientDuplexStream<T, unknown>, signal: AbortSignal) {
  try {
    for await (const message of messages) {
      if (!call.write(message)) await once(call, 'drain', { signal });
    }
    call.end();
  } catch (error) {
    call.cancel();
    throw error;
  }
}

async function* receive<T>(call: AsyncIterable<T>, done: Promise<void>): AsyncGenerator<T> {
  try {
    yield* call;
  } catch {
    // `done` has the same failure with its details.
  }
  await done;
}

/** Follows a call to its end: headers, trailers, and the error if it fails. Cancels it when the signal is aborted. */
function follow(call: EventEmitter & { cancel(): void }, signal: AbortSignal) {
  const header = new Headers();
  const trailer = new Headers();
  const cancel = () => call.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const began = new Promise<Metadata>((resolve) => call.once('metadata', resolve)).then((metadata) =>
    appendMetadata(header, metadata),
  );
  // grpc-js emits the status, which has the trailers, after all else.
  const ended = new Promise<StatusObject>((resolve) => call.once('status', resolve)).then((outcome) => {
    signal.removeEventListener('abort', cancel);
    appendMetadata(trailer, outcome.metadata);
    if (outcome.code !== status.OK) throw callError(outcome, header, trailer);
  });
  return { header, trailer, began, ended };
}

function callError(outcome: StatusObject, header: Headers, trailer: Headers): ConnectError {
  const code: number = outcome.code;
  const error = findTrailerError(trailer) ?? new ConnectError(outcome.details, code, trailer);
  for (const [name, value] of header) error.metadata.append(name, value);
  return error;
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function codec<I extends DescMessage, O extends DescMessage>(method: DescMethod & { input: I; output: O }) {
  return {
    write(message: MessageShape<I>): Buffer {
      const bytes = toBinary(method.input, message);
      // grpc-js refuses a plain Uint8Array.
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    read: (bytes: Buffer): MessageShape<O> => fromBinary(method.output, bytes),
  };
}

function toMetadata(header: Headers): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of header) {
    if (name.endsWith('-bin')) {
      for (const part of value.split(',')) metadata.add(name, Buffer.from(decodeBinaryHeader(part.trim())));
    } else {
      metadata.add(name, value);
    }
  }
  return metadata;
}

function appendMetadata(header: Headers, metadata: Metadata): void {
  for (const [name, values] of Object.entries(metadata.toJSON())) {
    for (const value of values) header.append(name, typeof value === 'string' ? value : encodeBinaryHeader(value));
  }
}
