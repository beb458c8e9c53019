import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import type { DescMethod } from '@bufbuild/protobuf';
import type { ConnectRouter } from '@connectrpc/connect';
import type { UniversalServerRequest } from '@connectrpc/connect/protocol';
import { parseContentType as parseConnectType } from '@connectrpc/connect/protocol-connect';
import { parseContentType as parseGrpcType } from '@connectrpc/connect/protocol-grpc';
import { parseContentType as parseGrpcWebType } from '@connectrpc/connect/protocol-grpc-web';
import { DomainError, invalidInput } from '@ticketing/errors/domain-error.ts';
import { toConnectError } from '@ticketing/errors/error-table.ts';
import { toDomainError } from '@ticketing/errors/translate-error.ts';
import { readMaxBodyBytes } from '@ticketing/rest/codec/options.ts';
import { bodyTooLarge, toBodyError } from '@ticketing/rest/limits/body-headers.ts';
import type { LargeJson } from '@ticketing/rest/limits/large-json.ts';
import { limitWireStructure } from '@ticketing/rest/limits/wire-structure-limit.ts';
import { ByteCollector } from '@ticketing/runtime/byte-collector.ts';
import type { BodiesInFlight } from '../admission/bodies-in-flight.ts';
import type { ServerLimits } from '../config/server-limits.ts';
import { callerKey } from '../identity/caller.ts';
import type { Metrics } from '../observability/metrics.ts';
import { admitted, isStandardService } from './rpc-guard.ts';

/** The limits of the bodies of RPCs, and the parts that enforce them. */
export interface RpcBodyOptions {
  bodies: BodiesInFlight;
  json: LargeJson;
  limits: ServerLimits;
  metrics: Metrics;
}

/**
 * Limits the requests of all unary and server-streaming methods of a router before their messages are parsed: the bytes
 * that arrive and those that they decompress to, the time that they take, and the parts of the message.
 *
 * Errors: body_too_large, too_many_pieces, bodies_in_flight, deadline_exceeded, malformed_message, malformed_json,
 * too_complex, and what `scanJson` finds; in the protocol of the request.
 */
export function limitRpcBodies({ handlers }: ConnectRouter, options: RpcBodyOptions): void {
  for (const [index, handler] of handlers.entries()) {
    if (handler.method.methodKind === 'bidi_streaming') continue;
    const limited = (request: UniversalServerRequest) => handler(limitRequest(request, handler.method, options));
    handlers[index] = Object.assign(limited, handler);
  }
}

/** The limits of the requests that need no credential. */
export const maxAnonymousBytes = 4096;
const maxAnonymousMs = 2_000;
const envelopeBytes = 5;
const pieceBytes = 64 * 1024;
const decompressions = new Map<string, () => Transform>([
  ['gzip', () => createGunzip({ chunkSize: pieceBytes })],
  ['br', () => createBrotliDecompress({ chunkSize: pieceBytes })],
]);

/** How the message of a request is written. */
interface Format {
  /** Whether an envelope says the length of the message, and whether it is compressed. */
  isEnveloped: boolean;
  isJson: boolean;
  /** The header that names the compression. */
  encodingHeader: string;
}

/** Returns the format that Connect reads from a media type; undefined for one that it refuses without reading the body. */
function parseFormat(mediaType: string | null): Format | undefined {
  const grpc = parseGrpcType(mediaType) ?? parseGrpcWebType(mediaType);
  if (grpc) return { isEnveloped: true, isJson: !grpc.binary, encodingHeader: 'grpc-encoding' };
  const connect = parseConnectType(mediaType);
  if (!connect) return undefined;
  const encodingHeader = connect.stream ? 'connect-content-encoding' : 'content-encoding';
  return { isEnveloped: connect.stream, isJson: !connect.binary, encodingHeader };
}

function limitRequest(
  request: UniversalServerRequest,
  method: DescMethod,
  options: RpcBodyOptions,
): UniversalServerRequest {
  const { body } = request;
  if (request.method !== 'POST' || !isByteStream(body)) return request;
  const format = parseFormat(request.header.get('content-type'));
  if (!format) return { ...request, body: nothing() };
  const encoding = request.header.get(format.encodingHeader) ?? 'identity';
  const decompress = decompressions.get(encoding);
  // Connect itself refuses a compression that it does not know, before it reads the body.
  if (encoding !== 'identity' && !decompress) return { ...request, body: nothing() };
  const header = new Headers(request.header);
  header.delete(format.encodingHeader);
  // The length counts the compressed message.
  header.delete('content-length');
  const check = { method, format, decompress, ...options };
  return { ...request, header, body: checkedBody(body, request, check) };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function isByteStream(body: UniversalServerRequest['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

interface Check extends RpcBodyOptions {
  method: DescMethod;
  format: Format;
  decompress: (() => Transform) | undefined;
}

/** Returns the body of a request after it was received, decompressed and checked as a whole. */
async function* checkedBody(
  body: AsyncIterable<Uint8Array>,
  { signal, contextValues }: UniversalServerRequest,
  check: Check,
): AsyncGenerator<Uint8Array> {
  const { method, format, bodies, limits } = check;
  const isAnonymous = isStandardService(method.parent);
  const maxBytes = isAnonymous ? maxAnonymousBytes : readMaxBodyBytes(method);
  const key = isAnonymous || !contextValues ? '' : callerKey(admitted(contextValues).caller);
  const held = bodies.hold(key);
  signal.throwIfAborted();
  signal.addEventListener('abort', held.release, { once: true });
  const startedAt = performance.now();
  try {
    const maxMs = isAnonymous ? Math.min(limits.bodyMs, maxAnonymousMs) : limits.bodyMs;
    const received = await receive(body, maxBytes + envelopeBytes, maxMs, held.add);
    if (received.length === 0) return;
    const given = await readMessage(received, maxBytes, check, held.add);
    const message = format.isJson ? await checkedJson(given, key, check.json) : given;
    if (!format.isJson) limitWireStructure(message, method.input);
    if (format.isEnveloped) yield makeEnvelope(message.length);
    yield message;
  } catch (thrown) {
    const error = toDomainError(thrown);
    const seconds = (performance.now() - startedAt) / 1000;
    check.metrics.observeRequest({ api: 'rpc', route: method.toString(), status: error.code, seconds });
    throw toConnectError(error);
  }
}

/**
 * Receives a body whole. The rest of a refused body is read and discarded, because a client of HTTP/1.1 that is still
 * writing would not see the response otherwise.
 *
 * Errors: body_too_large, too_many_pieces; those of `add`; deadline_exceeded if it takes longer than `maxMs`.
 */
async function receive(body: AsyncIterable<Uint8Array>, maxBytes: number, maxMs: number, add: Add): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const collector = new ByteCollector({ maxBytes });
  let isRefused = false;
  const refuse = (error: unknown) => {
    isRefused = true;
    collector.clear();
    reject(toBodyError(error, maxBytes - envelopeBytes));
  };
  const take = (piece: Uint8Array) => {
    try {
      add(piece.length);
      collector.add(piece);
    } catch (error) {
      refuse(error);
    }
  };
  const read = async () => {
    for await (const piece of body) if (!isRefused) take(piece);
    resolve(collector.toBuffer());
  };
  const timer = setTimeout(() => refuse(tooLate()), maxMs);
  read().catch(refuse);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

function tooLate(): DomainError {
  return new DomainError('deadline_exceeded', 'request_timeout', 'The request did not arrive in time.');
}

/** Counts bytes that are held. */
type Add = (bytes: number) => void;

/** Returns the message of a body, decompressed. Errors: malformed_message, body_too_large, bodies_in_flight. */
async function readMessage(
  received: Buffer,
  maxBytes: number,
  { format, decompress }: Check,
  add: Add,
): Promise<Uint8Array> {
  if (!format.isEnveloped) return decompressed(received, decompress, maxBytes, add);
  if (received.length < envelopeBytes) throw malformed('The body ends within the prefix of its message.');
  const flags = received.readUInt8(0);
  const length = received.readUInt32BE(1);
  if (length > maxBytes) throw bodyTooLarge(maxBytes);
  if (flags > 1) throw malformed('The prefix of the message has unknown flags.');
  if (length !== received.length - envelopeBytes) throw malformed('The body must have exactly one message.');
  if (flags === 1 && !decompress) throw malformed('The message is compressed, but no header says how.');
  return decompressed(received.subarray(envelopeBytes), flags === 1 ? decompress : undefined, maxBytes, add);
}

async function decompressed(
  bytes: Buffer,
  decompress: Check['decompress'],
  maxBytes: number,
  add: Add,
): Promise<Uint8Array> {
  if (!decompress) {
    if (bytes.length > maxBytes) throw bodyTooLarge(maxBytes);
    return bytes;
  }
  const collector = new ByteCollector({ maxBytes });
  try {
    for await (const piece of decompress().end(bytes) as AsyncIterable<Buffer>) {
      collector.add(piece);
      add(piece.length);
    }
    return collector.toBuffer();
  } catch (thrown) {
    const error = toBodyError(thrown, maxBytes);
    if (error instanceof DomainError) throw error;
    throw malformed('The message cannot be decompressed.');
  }
}

async function checkedJson(message: Uint8Array, caller: string, json: LargeJson): Promise<Uint8Array> {
  const { body, violations } = await json.check(caller, message);
  if (violations.length > 0) throw invalidInput(violations);
  return body;
}

function makeEnvelope(length: number): Uint8Array {
  const prefix = Buffer.alloc(envelopeBytes);
  prefix.writeUInt32BE(length, 1);
  return prefix;
}

function malformed(detail: string): DomainError {
  return new DomainError('invalid_argument', 'malformed_message', detail);
}
