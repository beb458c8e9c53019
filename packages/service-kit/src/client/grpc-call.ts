import { type EventEmitter, once } from 'node:events';
import { type DescMessage, type DescMethod, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import {
  Code,
  ConnectError,
  type StreamRequest,
  type StreamResponse,
  type UnaryRequest,
  type UnaryResponse,
} from '@connectrpc/connect';
import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import { type Client, type ClientDuplexStream, type Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { toBuffer } from '@ticketing/runtime/to-buffer.ts';
import { appendMetadata, toMetadata } from './grpc-metadata.ts';
import { mayRepeat } from './grpc-retry.ts';

/**
 * Makes a unary call, and makes it once more if its server was lost after it had sent the headers of its response.
 *
 * Errors: ConnectError.
 */
export async function callUnary<I extends DescMessage, O extends DescMessage>(
  client: Client,
  req: UnaryRequest<I, O>,
  deadline: number,
  isRepetition = false,
): Promise<UnaryResponse<I, O>> {
  req.signal.throwIfAborted();
  const { write, read } = codec(req.method);
  const metadata = toMetadata(req.header);
  let message: MessageShape<O> | undefined;
  const call = client.makeUnaryRequest(
    methodPath(req.method),
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
    const isLostAfterHeaders = header.has('content-type') && ConnectError.from(error).code === Code.Unavailable;
    if (!isLostAfterHeaders || isRepetition || !mayRepeat(req.method)) throw error;
    return callUnary(client, req, deadline, true);
  }
  if (message === undefined) throw new ConnectError('the response has no message', Code.Unimplemented);
  return { stream: false, service: req.service, method: req.method, header, trailer, message };
}

/** Makes a call whose requests or responses, or both, are streams. Errors: ConnectError. */
export async function callStream<I extends DescMessage, O extends DescMessage>(
  client: Client,
  req: StreamRequest<I, O>,
  deadline: number,
): Promise<StreamResponse<I, O>> {
  req.signal.throwIfAborted();
  const { write, read } = codec(req.method);
  // On the wire, client and server streams are bidirectional streams with a single message on one side.
  const call = client.makeBidiStreamRequest(methodPath(req.method), write, read, toMetadata(req.header), { deadline });
  // The error is thrown by `ended`; but an error event without a listener would end the process.
  call.on('error', () => {});
  const { header, trailer, headersArrived, ended } = follow(call, req.signal);
  const sent = send(req.message, call, req.signal);
  // The server may end the call before all requests are sent.
  const done = Promise.race([ended, sent.then(() => ended)]);
  await Promise.race([headersArrived, done]);
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
    // `done` rejects with the same error, including its details.
  }
  await done;
}

/** Collects the headers, the trailers and the error of a call until it ends. Cancels it when the signal is aborted. */
function follow(call: EventEmitter & { cancel(): void }, signal: AbortSignal) {
  const header = new Headers();
  const trailer = new Headers();
  const cancel = () => call.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const headersArrived = new Promise<Metadata>((resolve) => call.once('metadata', resolve)).then((metadata) =>
    appendMetadata(header, metadata),
  );
  // grpc-js emits the status, which has the trailers, as the last event.
  const ended = new Promise<StatusObject>((resolve) => call.once('status', resolve)).then((outcome) => {
    signal.removeEventListener('abort', cancel);
    appendMetadata(trailer, outcome.metadata);
    if (outcome.code !== status.OK) throw callError(outcome, header, trailer);
  });
  return { header, trailer, headersArrived, ended };
}

/** The text of grpc-js for a stream that the server refused before it began, because it has too many; retryable. */
const refusedStream = 'Bandwidth exhausted or memory limit exceeded';

function callError(outcome: StatusObject, header: Headers, trailer: Headers): ConnectError {
  const code: number = outcome.details === refusedStream ? Code.Unavailable : outcome.code;
  const error = findTrailerError(trailer) ?? new ConnectError(outcome.details, code, trailer);
  for (const [name, value] of header) error.metadata.append(name, value);
  return error;
}

/** Returns the path of a method on the wire. */
export function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function codec<I extends DescMessage, O extends DescMessage>(method: DescMethod & { input: I; output: O }) {
  return {
    write(message: MessageShape<I>): Buffer {
      const bytes = toBinary(method.input, message);
      // grpc-js refuses a plain Uint8Array.
      return toBuffer(bytes);
    },
    read: (bytes: Buffer): MessageShape<O> => fromBinary(method.output, bytes),
  };
}
