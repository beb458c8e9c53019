import { create, type DescService, type Message } from '@bufbuild/protobuf';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { DomainError } from '@ticketing/errors/domain-error.ts';
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { sendProblem } from '../src/problem-reply.ts';
import { implement, type RestApiOptions, registerRestApi, type ServiceImplementation } from '../src/rest-api.ts';

type Handler = (call: object, request: Message & Record<string, unknown>) => Promise<Message>;

/** A REST face over the two services of the tickets context, with what happened behind it. */
export interface StubFace {
  app: FastifyInstance;
  /** What the handlers got. */
  requests: (Message & Record<string, unknown>)[];
  reported: DomainError[];
}

/** Makes a face whose handlers answer empty messages, but for those given by the name of their method. */
export async function stubFace(
  handlers: Record<string, Handler> = {},
  begin: RestApiOptions<object>['begin'] = async () => ({}),
  options: FastifyServerOptions = {},
): Promise<StubFace> {
  const requests: StubFace['requests'] = [];
  const reported: DomainError[] = [];
  const context = { traceIdOf: () => 'trace-1', onServerError: (error: DomainError) => void reported.push(error) };
  const stubs = (service: DescService): ServiceImplementation<object> => {
    const named = service.methods.map((method) => [
      method.localName,
      async (call: object, request: Message & Record<string, unknown>) => {
        requests.push(request);
        return handlers[method.localName]?.(call, request) ?? create(method.output);
      },
    ]);
    return implement(service, Object.fromEntries(named));
  };
  const app = fastify({
    ...options,
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply, context),
  });
  const served = [stubs(TicketService), stubs(TagService)];
  await app.register(async (scope) => registerRestApi(scope, { services: served, begin, ...context }));
  return { app, requests, reported };
}
