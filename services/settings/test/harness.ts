import type { DescService } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import { serviceCaller } from '@ticketing/service-kit/identity/caller.ts';
import type { TestResponse } from '@ticketing/testkit/send-request.ts';
import {
  type HarnessOptions,
  type HarnessRequest,
  type ServiceHarness,
  startServiceHarness,
} from '@ticketing/testkit/service-harness.ts';
import { service } from '../src/service.ts';
import { serveTickets, type TicketsModel } from './stub-tickets.ts';

/** A running settings service, with a stub of the tickets service. */
export interface SettingsHarness extends ServiceHarness {
  model: TicketsModel;
  /** Sends a request of a caller who may write settings. */
  write(method: string, path: string, body?: unknown, request?: HarnessRequest): Promise<TestResponse>;
  /** A client that acts as another service. */
  clientOf<Service extends DescService>(contract: Service, grpcPort?: number): Promise<Client<Service>>;
}

/** A caller with the right to write settings. */
export const operator = { permissions: ['updateClientSettings'] };

/** Starts a settings service for one test file. By default it has the role `api` only. */
export async function startHarness(options: HarnessOptions<unknown> = {}): Promise<SettingsHarness> {
  const model: TicketsModel = { tagIds: new Set(), confirmed: [], isUnavailable: false };
  const stub = await serveTickets(model);
  const harness = await startServiceHarness(service, {
    ...options,
    calledPorts: { grpc: stub.port },
    usesBus: options.variables?.ROLES !== undefined,
    publishes: [ticketChangedTopic],
    variables: { ROLES: 'api', ...options.variables },
  });
  return {
    ...harness,
    model,
    write: (method, path, body, request = {}) =>
      harness.request(method, path, { caller: operator, ...(body === undefined ? {} : { body }), ...request }),
    async clientOf(contract, grpcPort = harness.running.ports.grpc) {
      const token = await harness.identity.internalToken('settings', serviceCaller('tickets'), 'tickets');
      const transport = createGrpcTransport({
        baseUrl: `http://127.0.0.1:${grpcPort}`,
        interceptors: [
          (next) => (call) => {
            call.header.set('authorization', `Bearer ${token}`);
            return next(call);
          },
        ],
      });
      return createClient(contract, transport);
    },
    async stop() {
      await harness.stop();
      await stub.stop();
    },
  };
}
