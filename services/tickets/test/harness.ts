import { type HarnessOptions, type ServiceHarness, startServiceHarness } from '@ticketing/testkit/service-harness.ts';
import { service } from '../src/service.ts';
import type { TicketSettings } from '../src/settings.ts';

/** A running tickets service with a database of its own. */
export interface TicketsHarness extends ServiceHarness {
  /** The stored document of a ticket. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read documents of every shape
  documentOf(id: number): Promise<any>;
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
  return { ...harness, documentOf };
}
