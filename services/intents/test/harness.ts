import type { ConnectRouter } from '@connectrpc/connect';
import { settingChangedTopic, tagChangedTopic, ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { TestResponse } from '@ticketing/testkit/send-request.ts';
import {
  type HarnessOptions,
  type HarnessRequest,
  type ServiceHarness,
  startServiceHarness,
} from '@ticketing/testkit/service-harness.ts';
import { type IntentStore, intentStore } from '../src/intent/store.ts';
import { service } from '../src/service.ts';
import { type CalledModel, emptyModel, type StubTicket, serveCalled, stubTicket } from './stub-called.ts';

/** A running intents service, with a stub of the services that it calls. */
export interface IntentsHarness extends ServiceHarness {
  model: CalledModel;
  intents: IntentStore;
  /** Adds a ticket to the model. */
  ticket(changes?: Partial<StubTicket>): StubTicket;
  /** Sends a request of a caller who may manage AI agents. */
  manage(method: string, path: string, body?: unknown, request?: HarnessRequest): Promise<TestResponse>;
  /** Creates an AI agent; returns its id. */
  agent(body: object): Promise<number>;
}

/** A caller with the right to manage AI agents. */
export const manager = { permissions: ['manageAiAgents'] };

/** Starts an intents service for one test file. By default it has the role `api` only. `serveMore` adds to the stub. */
export async function startHarness({
  serveMore,
  ...options
}: HarnessOptions<unknown> & { serveMore?: (router: ConnectRouter) => void } = {}): Promise<IntentsHarness> {
  const model = emptyModel();
  const stub = await serveCalled(model, serveMore);
  const harness = await startServiceHarness(service, {
    ...options,
    calledPorts: { grpc: stub.port },
    publishes: [ticketChangedTopic, tagChangedTopic, settingChangedTopic],
    variables: { ROLES: 'api', ...options.variables },
  });
  const { connection, close } = await harness.openDatabase();
  const manage: IntentsHarness['manage'] = (method, path, body, request = {}) =>
    harness.request(method, path, { caller: manager, ...(body === undefined ? {} : { body }), ...request });
  let lastTicketId = 0;
  return {
    ...harness,
    model,
    intents: intentStore(connection, { among: async () => new Set() }),
    ticket(changes) {
      const ticket = stubTicket(++lastTicketId, changes);
      model.tickets.set(ticket.id, ticket);
      return ticket;
    },
    manage,
    async agent(body) {
      const { status, json } = await manage('POST', '/aiAgent', body);
      if (status !== 201) throw new Error(JSON.stringify(json));
      return json.id as number;
    },
    async stop() {
      await close();
      await harness.stop();
      await stub.stop();
    },
  };
}
