import { create, type DescService, type Message } from '@bufbuild/protobuf';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import type { DomainError } from '@ticketing/errors/domain-error.ts';
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { openLargeJson } from '../src/limits/large-json.ts';
import { sendProblem } from '../src/routes/problem-reply.ts';
import { implement, type RestApiOptions, registerRestApi, type ServiceImplementation } from '../src/routes/rest-api.ts';

type Handler = (call: object, request: Message & Record<string, unknown>) => Promise<Message>;

/** A REST API of the two services of the tickets context. It records the requests and the server errors. */
export interface StubRestApi {
  app: FastifyInstance;
  /** The requests that the handlers received. */
  requests: (Message & Record<string, unknown>)[];
  reported: DomainError[];
}

/** Makes a REST API. The handlers of all methods that are not given, by name, return empty messages. */
export async function stubRestApi(
  handlers: Record<string, Handler> = {},
  begin: RestApiOptions<object>['begin'] = async () => ({}),
  options: FastifyServerOptions = {},
): Promise<StubRestApi> {
  const requests: StubRestApi['requests'] = [];
  const reported: DomainError[] = [];
  const context = { findTraceId: () => 'trace-1', onServerError: (error: DomainError) => void reported.push(error) };
  const stubs = (service: DescService): ServiceImplementation<object> => {
    const named = service.methods.map((method) => [
      method.localName,
      async (_context: object, call: object, request: Message & Record<string, unknown>) => {
        requests.push(request);
        return handlers[method.localName]?.(call, request) ?? create(method.output);
      },
    ]);
    return implement(service, {}, Object.fromEntries(named));
  };
  const app = fastify({
    ...options,
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply, context),
  });
  const served = [stubs(TicketService), stubs(TagService)];
  const given = { services: served, begin, ...describeBodies(app), ...context };
  await app.register(async (scope) => registerRestApi(scope, given));
  return { app, requests, reported };
}

/** Opens the reader and writer of JSON for the REST API of a test, until the server is closed. */
export function describeBodies(
  app: FastifyInstance,
  module?: URL,
): Pick<RestApiOptions<object>, 'json' | 'nameCaller'> {
  const maxQueuedBytes = 160 * 1024 * 1024;
  const json = openLargeJson({
    ...{ maxQueuedBytes, maxQueuedBytesPerCaller: maxQueuedBytes },
    ...(module ? { module } : {}),
  });
  app.addHook('onClose', () => json.close());
  return { json, nameCaller: () => 'caller' };
}
