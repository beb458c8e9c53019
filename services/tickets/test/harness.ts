import type { Caller } from '@ticketing/service-kit/identity/caller.ts';
import { type HarnessOptions, type ServiceHarness, startServiceHarness } from '@ticketing/testkit/service-harness.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { service } from '../src/service.ts';
import type { TicketSettings } from '../src/settings.ts';

/** A running tickets service with a separate database. */
export interface TicketsHarness extends ServiceHarness {
  /** The stored document of a ticket. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read documents of every shape
  documentOf(id: number): Promise<any>;
  /** Calls an RPC such as `CustomerService/ImportCustomers` by the Connect protocol. Returns the status and the response. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  rpc(method: string, request: object, caller?: Partial<Caller>): Promise<[number, any]>;
}

/**
 * Starts a tickets service for one test file. By default it has the role `api` only, because the scheduler would change
 * tickets during a test.
 */
export async function startHarness({
  variables = {},
  ...options
}: HarnessOptions<TicketSettings> = {}): Promise<TicketsHarness> {
  const usesBus = variables.ROLES?.includes('relay') ?? false;
  const harness = await startServiceHarness(service, {
    ...options,
    usesBus,
    variables: { ROLES: 'api', ...variables },
  });
  const documentOf = (id: number) => harness.database.collection<{ _id: number }>('tickets').findOne({ _id: id });
  return {
    ...harness,
    documentOf,
    async rpc(method, request, caller = {}) {
      const token = await harness.identity.internalToken('tickets', testCaller(caller), caller.service ?? undefined);
      const response = await fetch(`${harness.url}/ticketing.tickets.v1.${method}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(request),
      });
      return [response.status, await response.json()];
    },
  };
}
