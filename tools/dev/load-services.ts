import type { Print } from '@ticketing/events/dead-letters/operations.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import type { Service } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import type { OperationRequest } from '@ticketing/service-kit/lifecycle/operation-request.ts';
import { services } from '@ticketing/system/services.ts';

/** Loads the module of every service, in the order of the description of the system. */
export function loadServices(): Promise<Service[]> {
  return Promise.all(services.map(({ name }) => loadService(name)));
}

/** Loads the module of a service. */
export async function loadService(name: string): Promise<Service> {
  const { service } = (await import(`@ticketing/${name}/service.ts`)) as { service: Service };
  return service;
}

/** Runs an operation in every service, one after the other. Returns how much is left to be done in all of them. */
export async function operateAll(request: OperationRequest, print: Print, environment: Environment): Promise<number> {
  let left = 0;
  for (const service of await loadServices()) left += await service.operate(request, print, environment);
  return left;
}
