import type { Print } from '@ticketing/events/dead-letters/operations.ts';
import type { Environment } from '@ticketing/runtime/config-reader.ts';
import type { Service } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import type { OperationRequest } from '@ticketing/service-kit/lifecycle/operate.ts';
import { services } from '@ticketing/system/services.ts';

/** Loads every service of the system, in the order of its description. */
export function loadServices(): Promise<Service[]> {
  return Promise.all(services.map(({ name }) => loadService(name)));
}

/** Loads a service by its name. */
export async function loadService(name: string): Promise<Service> {
  const { service } = (await import(`@ticketing/${name}/service.ts`)) as { service: Service };
  return service;
}

/** Does what an operator asks for in every service, one after the other; returns how much is left in all. */
export async function operateAll(request: OperationRequest, print: Print, environment: Environment): Promise<number> {
  let left = 0;
  for (const service of await loadServices()) left += await service.operate(request, print, environment);
  return left;
}
