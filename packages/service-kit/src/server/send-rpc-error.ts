import type { OutgoingHttpHeaders } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { errorToJson } from '@connectrpc/connect/protocol-connect';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import type { DomainError } from '@ticketing/errors/domain-error.ts';
import { toConnectError, toHttpStatus } from '@ticketing/errors/error-table.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Responds to an RPC with an error before its message was read, as the protocol of the request (gRPC, gRPC-Web or Connect)
 * writes it. An HTTP/1.1 connection is closed, which is the only way to stop its client from sending the rest.
 */
export function sendRpcError(error: DomainError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = toConnectError(error);
  const mediaType = request.headers['content-type'] ?? '';
  const isHttp1 = request.raw.httpVersionMajor === 1;
  const headers = { ...(isHttp1 ? { connection: 'close' } : {}), ...Object.fromEntries(refusal.metadata) };
  if (mediaType.startsWith('application/grpc')) {
    const trailers = new Headers();
    setTrailerStatus(trailers, refusal);
    const all = { 'content-type': mediaType, ...headers, ...Object.fromEntries(trailers) };
    return isHttp1 ? reply.code(200).headers(all).send() : sendHeadersOnly(request, reply, all);
  }
  return reply
    .code(toHttpStatus(error).status)
    .headers({ 'content-type': 'application/json', ...headers })
    .send(JSON.stringify(errorToJson(refusal, undefined)));
}

/** Ends an HTTP/2 stream with its headers, as gRPC demands of a response that has no message. */
function sendHeadersOnly(
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
): FastifyReply {
  const { stream } = request.raw as unknown as Http2ServerRequest;
  reply.hijack();
  const own: Record<string, unknown> = reply.getHeaders();
  const all: Record<string, unknown> = { ':status': 200, ...own, ...headers };
  stream.respond(all as OutgoingHttpHeaders, { endStream: true });
  stream.close();
  return reply;
}
