import { ticketChangedTopic } from '@ticketing/contracts/topics.ts';
import type { TestResponse } from '@ticketing/testkit/send-request.ts';
import {
  type HarnessOptions,
  type HarnessRequest,
  type ServiceHarness,
  startServiceHarness,
} from '@ticketing/testkit/service-harness.ts';
import { service } from '../src/service.ts';
import { type StubModel, serveCalled } from './stub-called.ts';

/** A running settings service, with a stub of the tickets service. */
export interface SettingsHarness extends ServiceHarness {
  model: StubModel;
  /** Sends a request of a caller who may write settings. */
  write(method: string, path: string, body?: unknown, request?: HarnessRequest): Promise<TestResponse>;
}

/** A caller with the right to write settings. */
export const operator = { permissions: ['updateClientSettings'] };

/** Starts a settings service for one test file. By default it has the role `api` only. */
export async function startHarness(options: HarnessOptions<unknown> = {}): Promise<SettingsHarness> {
  const model: StubModel = { tagIds: new Set(), emailTemplateIds: new Set(), confirmed: [], isUnavailable: false };
  const stub = await serveCalled(model);
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
    async stop() {
      await harness.stop();
      await stub.stop();
    },
  };
}
