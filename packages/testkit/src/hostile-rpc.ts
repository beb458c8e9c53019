import { type ClientHttp2Session, connect } from 'node:http2';
import { Readable } from 'node:stream';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { DescMethod } from '@bufbuild/protobuf';
import type { Code } from '@connectrpc/connect';
import { codeFromString } from '@connectrpc/connect/protocol-connect';
import { heldRequest } from './held-request.ts';

/** A protocol in which RPCs are sent, and how its messages and compressions are written. */
export interface RpcProtocol {
  name: string;
  /** The port of a service that serves it. */
  port: 'http' | 'grpc';
  contentType: string;
  /** The header that names the compression of the message. */
  encodingHeader: string;
  isEnveloped: boolean;
}

/** The protocols of a method with binary messages. */
export function listBinaryProtocols({ methodKind }: DescMethod): readonly RpcProtocol[] {
  return methodKind === 'unary' ? [gRpc, gRpcWeb, connectUnary] : [gRpc, gRpcWeb, connectStream];
}

/** The protocols of a method with JSON messages. */
export function listJsonProtocols({ methodKind }: DescMethod): readonly RpcProtocol[] {
  return methodKind === 'unary' ? [gRpcJson, connectJson] : [gRpcJson];
}

/** Native gRPC. */
export const gRpc: RpcProtocol = {
  name: 'gRPC',
  port: 'grpc',
  contentType: 'application/grpc',
  encodingHeader: 'grpc-encoding',
  isEnveloped: true,
};
const gRpcWeb: RpcProtocol = { ...gRpc, name: 'gRPC-Web', port: 'http', contentType: 'application/grpc-web+proto' };
const gRpcJson: RpcProtocol = { ...gRpc, name: 'gRPC JSON', contentType: 'application/grpc+json' };
const connectUnary: RpcProtocol = {
  name: 'Connect',
  port: 'http',
  contentType: 'application/proto',
  encodingHeader: 'content-encoding',
  isEnveloped: false,
};
const connectJson: RpcProtocol = { ...connectUnary, name: 'Connect JSON', contentType: 'application/json' };
const connectStream: RpcProtocol = {
  name: 'Connect stream',
  port: 'http',
  contentType: 'application/connect+proto',
  encodingHeader: 'connect-content-encoding',
  isEnveloped: true,
};

export type Compression = 'identity' | 'gzip' | 'br';

/** The body of a message in a protocol. */
export function toBody({ isEnveloped }: RpcProtocol, message: Uint8Array, compression: Compression): Buffer {
  const content = compressed(message, compression);
  if (!isEnveloped) return Buffer.from(content);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(compression === 'identity' ? 0 : 1);
  prefix.writeUInt32BE(content.length, 1);
  return Buffer.concat([prefix, content]);
}

function compressed(message: Uint8Array, compression: Compression): Uint8Array {
  if (compression === 'gzip') return gzipSync(message);
  if (compression === 'br') return brotliCompressSync(message, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  return message;
}

/** A request that a well-behaved client would not send. */
export interface HostileRequest {
  protocol: RpcProtocol;
  path: string;
  token?: string | undefined;
  compression?: Compression;
  /** Further headers. */
  headers?: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Whether the body is left without an end. The length that is announced is larger by `heldBytes`. */
  heldBytes?: number;
}

/** How a service responded. */
export interface HostileResponse {
  /** The code of the error; undefined for a success, or if the stream ended without a response. */
  code: Code | undefined;
  httpStatus: number | undefined;
  headers: Readonly<Record<string, unknown>>;
  /** Whether the service has asked for the body with `100 Continue`. */
  isContinued: boolean;
}

/** The connection of a hostile client to the ports of a service. */
export interface HostileClient {
  /** Resolves when the response has ended, or the service has ended the stream or connection. */
  send(request: HostileRequest): Promise<HostileResponse>;
  /** The HTTP/2 connection. */
  session: ClientHttp2Session;
  close(): void;
}

/** Connects to the ports of a service on this machine. */
export function hostileClient(ports: { http: number; grpc: number }): HostileClient {
  const session = connect(`http://127.0.0.1:${ports.grpc}`);
  session.on('error', () => undefined);
  return {
    session,
    send: (request) =>
      request.protocol.port === 'grpc' ? sendHttp2(session, request) : sendHttp1(ports.http, request),
    close: () => session.destroy(),
  };
}

function toHeaders({ protocol, token, compression = 'identity', headers }: HostileRequest): Record<string, string> {
  return {
    'content-type': protocol.contentType,
    ...(compression === 'identity' ? {} : { [protocol.encodingHeader]: compression }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...headers,
  };
}

function sendHttp2(session: ClientHttp2Session, request: HostileRequest): Promise<HostileResponse> {
  const { promise, resolve } = Promise.withResolvers<HostileResponse>();
  const stream = session.request({ ':method': 'POST', ':path': request.path, te: 'trailers', ...toHeaders(request) });
  let headers: Record<string, unknown> = {};
  let isContinued = false;
  stream.on('continue', () => {
    isContinued = true;
  });
  stream.on('response', (received) => Object.assign(headers, received));
  stream.on('trailers', (received) => {
    headers = { ...headers, ...received };
  });
  stream.on('error', () => undefined);
  stream.on('close', () =>
    resolve({
      code: codeOfGrpcStatus(headers['grpc-status']),
      httpStatus: headers[':status'] as number | undefined,
      headers,
      isContinued,
    }),
  );
  stream.resume();
  // In pieces, because Node ends a stream that is given more than 10 MB at once.
  Readable.from(splitPieces(request.body)).pipe(stream, { end: request.heldBytes === undefined });
  return promise;
}

function* splitPieces(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += 65_536) yield body.subarray(at, at + 65_536);
}

async function sendHttp1(port: number, request: HostileRequest): Promise<HostileResponse> {
  const { path, body, heldBytes } = request;
  const response = await heldRequest({ port, method: 'POST', path, headers: toHeaders(request), body, heldBytes });
  const { status, headers, text, isContinued } = response;
  return { code: codeOfHttp1(headers, text), httpStatus: status, headers, isContinued };
}

function codeOfHttp1(headers: Readonly<Record<string, unknown>>, body: string): Code | undefined {
  if (String(headers['content-type']).startsWith('application/grpc')) {
    return codeOfGrpcStatus(headers['grpc-status'] ?? /grpc-status: ?(\d+)/.exec(body)?.[1]);
  }
  const code = /"code":"(\w+)"/.exec(body)?.[1];
  return code === undefined ? undefined : codeFromString(code);
}

function codeOfGrpcStatus(status: unknown): Code | undefined {
  const code = Number(status);
  return Number.isNaN(code) || code === 0 ? undefined : code;
}
