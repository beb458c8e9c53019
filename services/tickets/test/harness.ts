import { type HarnessOptions, type ServiceHarness, startServiceHarness } from '@ticketing/testkit/service-harness.ts';
import { service } from '../src/service.ts';
import type { TicketSettings } from '../src/settings.ts';

export { golden } from '@ticketing/testkit/golden.ts';
export type { TestResponse as Answer } from '@ticketing/testkit/send-request.ts';
export type { HarnessRequest as RequestOptions } from '@ticketing/testkit/service-harness.ts';
export { violationsOf } from '@ticketing/testkit/violations-of.ts';

/** A tickets service of its own, on a database of its own. */
export interface TicketsHarness extends ServiceHarness {
  /** The stored document of a ticket. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every shape
  documentOf(id: number): Promise<any>;
}

/** Starts a tickets service for one test file. The schedule changes tickets by itself: who tests that asks for its role. */
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
