import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { errorToJson } from '@connectrpc/connect/protocol-connect';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { toConnectError } from '@ticketing/errors/error-table.ts';
import { toDomainError } from '@ticketing/errors/translate-error.ts';
import { toProblem } from '@ticketing/rest/problem.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkAccess } from '../identity/access.ts';
import type { Authenticator } from '../identity/authenticator.ts';

/**
 * Refuses RPCs over HTTP/1.1 whose caller has no access before their messages are read: the interceptors of Connect run
 * only after that. The connection is closed, which is the only way to stop an HTTP/1.1 client from sending the rest.
 *
 * Shape: the error as the protocol of the request (gRPC-Web or Connect) writes it.
 */
export function rejectBeforeBody(
  app: FastifyInstance,
  services: readonly DescService[],
  authenticator: Authenticator,
): void {
  const methods = new Map<string, DescMethod>();
  for (const service of services) {
    for (const method of service.methods) methods.set(`/${service.typeName}/${method.name}`, method);
  }
  app.addHook('onRequest', async (request, reply) => {
    const method = methods.get(request.url.split('?', 1)[0] ?? '');
    if (!method) return undefined;
    try {
      checkAccess(method, await authenticator.rpc(request.headers.authorization));
      return undefined;
    } catch (error) {
      return refuse(toDomainError(error), request, reply);
    }
  });
}

function refuse(error: ReturnType<typeof toDomainError>, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = toConnectError(error);
  const mediaType = request.headers['content-type'] ?? '';
  if (mediaType.startsWith('application/grpc')) {
    const trailers = new Headers();
    setTrailerStatus(trailers, refusal);
    return reply
      .code(200)
      .headers({ 'content-type': mediaType, connection: 'close', ...Object.fromEntries(trailers) })
      .send();
  }
  const { status } = toProblem(error, { instance: '', traceId: '' });
  return reply
    .code(status)
    .headers({ 'content-type': 'application/json', connection: 'close', ...Object.fromEntries(refusal.metadata) })
    .send(JSON.stringify(errorToJson(refusal, undefined)));
}
